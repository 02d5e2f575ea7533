from __future__ import annotations

import dataclasses
import json

import pytest

from lsprune import LSP, FormatError, OptionError, Signs
from lsprune.lab.studies.run import Run, check_version

RUN = Run(
    study="s",
    dataset="d",
    model="m",
    method="lsp-signs",
    pruner={"pruner": "lsp", "hash": {"name": "signs", "bits": 6}},
    k=3,
)


def test_a_key_is_of_the_content_alone_and_never_changes():
    assert RUN.key == "a3263155fcb633bc"
    assert Run(**json.loads(json.dumps(dataclasses.asdict(RUN)))).key == RUN.key
    assert dataclasses.replace(RUN, epochs=200).key == RUN.key  # a default says nothing


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Run)])
def test_every_field_is_part_of_the_key(name):
    other = {
        "study": "x", "dataset": "x", "model": "x", "method": "x", "k": 4, "keep": 0.5, "seed": 1, "target": "mu",
        "epochs": 7, "lr": 0.5, "schedule": "cosine", "weight_decay": 0.1, "label_smoothing": 0.2, "batch_size": 2,
        "patience": 3, "pruned": "testing", "limit": 9, "hops": (1, 3), "pairs": 28,
        "pruner": {"pruner": "random"}, "every_epoch": True, "basic": True,
    }  # fmt: skip
    changed = dataclasses.replace(RUN, **{name: other[name]})
    assert changed.key != RUN.key
    assert Run(**json.loads(json.dumps(dataclasses.asdict(changed)))) == changed


def test_a_run_makes_its_pruner():
    assert RUN.make_pruner() == LSP(k=3, hash=Signs(bits=6))
    assert dataclasses.replace(RUN, k=None, keep=0.5, seed=4).make_pruner() == LSP(keep=0.5, seed=4, hash=Signs(bits=6))
    assert dataclasses.replace(RUN, pruner=None, k=None).make_pruner() is None
    with pytest.raises(OptionError, match="k or keep must be given for method lsp-signs"):
        dataclasses.replace(RUN, k=None).make_pruner()


def test_runs_of_an_older_version_are_refused():
    check_version(RUN.to_dict(), "here")
    with pytest.raises(FormatError, match=r"here was written by lsprune 0\.1\.0"):
        check_version({"method": "lsp-p", "sparsity": 25}, "here")


def test_a_run_in_words():
    assert str(RUN) == "d lsp-signs k=3 seed 0"
    assert str(dataclasses.replace(RUN, k=None, keep=0.5, target="mu", seed=2)) == "d mu lsp-signs keep=0.5 seed 2"
