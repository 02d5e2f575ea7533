"""Every method of a study by name: one pruner, the budget that was asked for, the seed of the run."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, OptionError
from lsprune.lab.studies.methods import BUDGETED, FRESH, NAMES, NEEDS_K, PAPER, REFERENCES, pruner_for


def graph() -> Graph:
    rng = np.random.default_rng(0)
    once = np.unique(rng.integers(0, 40, (2, 200)), axis=1)
    once = once[:, once[0] < once[1]]
    x = rng.standard_normal((40, 30)).astype(np.float32)
    return Graph.from_edges(np.concatenate([once, once[::-1]], axis=1), num_nodes=40, x=x)  # in- and out-degrees agree


def test_names_are_references_and_pruners():
    assert set(PAPER) | set(FRESH) | set(NEEDS_K) <= set(NAMES) == set(REFERENCES) | set(BUDGETED)
    assert pruner_for("unpruned", None, 0) is None
    assert pruner_for("basic", None, 0) is None
    assert not pruner_for("no-edges", None, 0).mask(graph()).any()


def test_names_say_who_decides():
    for name in BUDGETED:
        assert pruner_for(name, 1, 0).side == ("out" if name.endswith(("-out", "-paper", "-published")) else "in")


@pytest.mark.parametrize("method", BUDGETED)
def test_equal_k_means_an_equal_number_of_edges(method):
    one = graph()
    degree = np.bincount(one.ends()[1], minlength=40)
    assert pruner_for(method, 3, 7).mask(one).sum() == np.minimum(degree, 3).sum()
    assert pruner_for(method, 3, 7).seed == 7


@pytest.mark.parametrize("method", [name for name in BUDGETED if name not in NEEDS_K])
def test_a_share_is_met_to_the_edge(method):
    one = graph()
    assert pruner_for(method, None, 0, keep=0.25).mask(one).sum() == int(0.25 * one.num_edges + 0.5)


def test_the_published_presets_look_at_as_many_entries_as_the_run_says():
    assert pruner_for("lsp-projection-published", 2, 0, sparsity=8).hash.sparsity == 8
    assert pruner_for("lsp-threshold-published", 2, 0).hash.sparsity == 25


def test_bad_requests_are_named():
    with pytest.raises(OptionError, match="method must be one of none, no-edges, basic, random"):
        pruner_for("magic", 1, 0)
    with pytest.raises(OptionError, match="k or keep must be given for method random"):
        pruner_for("random", None, 0)
