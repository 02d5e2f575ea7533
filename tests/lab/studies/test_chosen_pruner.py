"""The method `choose` is the pruner that `lsprune.choose` picks for the training data."""

from __future__ import annotations

import numpy as np
import pytest
from labelled_graphs import labelled_graph

from lsprune import OptionError, choose
from lsprune.lab.studies.chosen_pruner import ChosenPruner
from lsprune.lab.studies.methods import Method, find_method


def test_it_is_what_choose_picks():
    graph = labelled_graph(nodes=120)
    pruner = find_method("choose").make(keep=0.25, seed=3)
    assert pruner == ChosenPruner(keep=0.25, seed=3) and not pruner.is_fitted
    fitted, known = pruner.fit(graph), choose(graph, keep=0.25, seed=3)
    assert fitted == known.pruner
    np.testing.assert_array_equal(pruner.mask(graph), known.pruner.mask(graph))


def test_a_method_of_a_study_is_brief_and_has_a_budget():
    method = find_method("choose")
    assert method.pruner == {"pruner": "choose"} and method.has_budget and method.takes_share and not method.is_lsp
    assert Method.from_table({"name": "mine", "pruner": "choose"}).make(keep=0.5) == ChosenPruner(keep=0.5)


def test_k_is_kept_too():
    graph = labelled_graph(nodes=120)
    fitted = ChosenPruner(k=3).fit(graph)
    source, target = graph.ends()
    kept = fitted.mask(graph) & (source != target)
    assert fitted.k == 3 and np.bincount(target[kept]).max() == 3


def test_it_has_no_other_options():
    with pytest.raises(OptionError, match="hash is not an option of choose"):
        Method.from_table({"name": "mine", "pruner": "choose", "hash": "signs"})
