from __future__ import annotations

import dataclasses
import json

import pytest

from lsprune.lab.studies.run import Run

RUN = Run(study="s", dataset="d", model="m", method="lsp-projection", k=3)


def test_a_key_is_of_the_content_alone_and_never_changes():
    assert RUN.key == "64525fbd25a0f409"
    assert Run(**json.loads(json.dumps(dataclasses.asdict(RUN)))).key == RUN.key
    assert dataclasses.replace(RUN, epochs=200).key == RUN.key  # a default says nothing


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Run)])
def test_every_field_is_part_of_the_key(name):
    other = {
        "study": "x", "dataset": "x", "model": "x", "method": "x", "k": 4, "keep": 0.5, "seed": 1, "target": "mu",
        "epochs": 7, "lr": 0.5, "schedule": "cosine", "weight_decay": 0.1, "label_smoothing": 0.2, "batch_size": 2,
        "patience": 3, "pruned": "testing", "limit": 9, "hops": (1, 3), "sparsity": 8, "pairs": 28,
    }  # fmt: skip
    changed = dataclasses.replace(RUN, **{name: other[name]})
    assert changed.key != RUN.key
    assert Run(**json.loads(json.dumps(dataclasses.asdict(changed)))) == changed


def test_a_run_in_words():
    assert str(RUN) == "d lsp-projection k=3 seed 0"
    assert str(dataclasses.replace(RUN, k=None, keep=0.5, target="mu", seed=2)) == "d mu lsp-projection keep=0.5 seed 2"
