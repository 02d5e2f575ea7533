from __future__ import annotations

import pytest
from lab_records import as_method, lsp

from lsprune.baselines import Jaccard as JaccardPruner
from lsprune.hashing import Identity, Projection
from lsprune.lab.reporting.method_descriptions import describe
from lsprune.lab.studies.methods import Method, catalogue
from lsprune.weights import Jaccard


def test_every_method_of_the_catalogue_has_one_line_of_its_own_words():
    for name, method in catalogue().items():
        line = describe(method)
        assert len(line) > 15 and "\n" not in line and line != name, name


@pytest.mark.parametrize(
    ("method", "parts"),
    [
        ("unpruned", ["The whole graph"]),
        ("basic", ["The plain variant of the model"]),
        ("jaccard", [JaccardPruner.about[4:]]),
        ("lsp-projection", ["Locality-sensitive pruning. Hash: ", Projection.about]),
        ("lsp-identity-jaccard", ["Locality-sensitive pruning. Hash: ", Identity.about, Jaccard.about]),
        ("lsp-auto-out", ["Sources own their edges"]),
        ("dropedge", ["in every epoch"]),
        ("shared-lsp-projection", ["One budget for all relations", Projection.about]),
        ("lsp-projection-paper", ["the paper's own options", Projection.about]),
    ],
)
def test_a_line_says_what_the_registries_say(method, parts):
    line = describe(as_method(method))
    assert all(part in line for part in parts), line


def test_methods_that_differ_only_in_a_number_have_lines_of_their_own():
    assert "power = 0.4" in describe(as_method("lsp-degree"))
    lines = [describe(as_method(name)) for name in ("lsp-degree", "lsp-degree-1", "lsp-codebook", "lsp-codebook-edge")]
    assert len(set(lines)) == 4


def test_what_no_registry_knows_is_called_by_its_name():
    assert describe(Method("mine", {"pruner": "of-a-plugin"})) == "of-a-plugin."
    line = describe(lsp("mine", hash={"name": "my-hash"}, weights="my-weight"))
    assert line.endswith("Hash: my-hash. Weights: my-weight.")
    assert describe(lsp("odd", hash=[1], weights={"name": None})).endswith("Hash: [1]. Weights: None.")
