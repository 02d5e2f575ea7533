"""Factors of one over the chance that an edge was kept: sums are right on average."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom, OptionError
from lsprune.kernels import runtime
from lsprune.selection.owners import group
from lsprune.selection.rescale import owner_factors
from lsprune.selection.unbiased import Draws, owner_draws, refuse_pairs, unbiased_factors

RUN = runtime(1)
OWNERS, DEGREE = 10_000, 20
WEIGHTED = {"hash": "identity", "weights": "edge", "select": "bottom"}


def copies(weights: np.ndarray) -> Graph:
    """10,000 owners of 20 neighbours each, all different: as many independent draws; weights are alike."""
    ends = np.stack([np.arange(OWNERS * DEGREE), np.repeat(np.arange(OWNERS), DEGREE)])
    column = np.tile(weights, OWNERS)[:, None].astype(np.float32)
    return Graph.from_edges(ends, num_nodes=(OWNERS * DEGREE, OWNERS), edge_attr=column)


def deviations(sums: np.ndarray, truth: float) -> float:
    """How many standard errors the mean is off."""
    return float((sums.mean() - truth) / (sums.std() / sums.size**0.5))


@pytest.mark.parametrize(("k", "keep"), [(3, None), (8, None), (19, None), (None, 0.31)])
@pytest.mark.parametrize("skew", [0.5, 1.5, 3.0])
def test_sums_are_unbiased_with_weights_and_rescale_true_is_not(skew, k, keep):
    rng = np.random.default_rng(0)
    weights = np.exp(rng.normal(0, skew, DEGREE)).astype(np.float32)
    value = weights * rng.uniform(0.5, 1.5, DEGREE)  # what is worth sampling by these weights
    graph, pruner = copies(weights), LSP(k=k, keep=keep, **WEIGHTED)
    mask = pruner.mask_graph(graph, RUN).mask
    ours, plain = (
        (factor * mask * np.tile(value, OWNERS)).reshape(OWNERS, DEGREE).sum(1)
        for factor in (pruner.unbiased_factors(graph, mask, RUN), owner_factors(graph, mask, "in"))
    )
    assert abs(deviations(ours, value.sum())) < 3
    assert deviations(plain, value.sum()) > 10  # far too large: the heavy ones are kept, and scaled all the same


def test_sums_are_unbiased_over_seeds():
    """`docs/theory.md` has this example: ten neighbours of which three are kept, and the value is the weight."""
    weights = np.array([20.0, 10, 5, 4, 3, 3, 2, 1, 1, 0.5])
    sums = {"unbiased": [], True: []}
    graph = Graph.from_edges(
        np.stack([np.arange(10), np.full(10, 10)]), edge_attr=weights[:, None].astype(np.float32), num_nodes=11
    )
    for seed in range(1000):
        pruner = LSP(k=3, seed=seed, **WEIGHTED)
        mask = pruner.mask_graph(graph, RUN).mask
        sums["unbiased"].append((pruner.unbiased_factors(graph, mask, RUN) * weights)[mask].sum())
        sums[True].append((owner_factors(graph, mask, "in") * weights)[mask].sum())
    unbiased, plain = (np.array(sums[name]) for name in ("unbiased", True))
    assert abs(deviations(unbiased, 49.5)) < 3
    assert round(plain.mean(), 1) == 92.6
    assert deviations(plain, 49.5) > 10


def test_edges_with_equal_chances_have_degree_over_kept():
    simple = simple_graph()
    for pruner in (
        LocalRandom(k=3), LSP(k=3, hash="identity"), LSP(keep=0.7, hash="identity", select="bottom"),
    ):  # fmt: skip
        mask = pruner.mask_graph(simple, RUN).mask
        factors = pruner.unbiased_factors(simple, mask, RUN)
        np.testing.assert_array_equal(factors[mask], owner_factors(simple, mask, "in")[mask])
        assert (factors[~mask] == 1).all()
        assert factors.dtype == np.float32


def simple_graph() -> Graph:
    """A graph with self-loops and without parallel edges."""
    ends = np.unique(np.stack(random_graph(3, nodes=10, edges=80).ends()), axis=1)
    return Graph.from_edges(ends, edge_attr=np.random.default_rng(0).uniform(0.1, 9, (ends.shape[1], 1)), num_nodes=10)


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
def test_owners_that_keep_all_and_loops_that_do_not_count_have_factor_one(self_loops):
    graph = simple_graph()
    source, target = graph.ends()
    pruner = LSP(k=6, **WEIGHTED, self_loops=self_loops)
    mask = pruner.mask_graph(graph, RUN).mask
    factors = pruner.unbiased_factors(graph, mask, RUN)
    counted = (source != target) | (self_loops == "edge")
    degree = np.bincount(target[counted], minlength=10)
    assert {bool(all_kept) for all_kept in degree[degree > 0] <= 6} == {True, False}
    assert (factors[(degree <= 6)[target] | ~counted | ~mask] == 1).all()
    assert (factors[(degree > 6)[target] & counted & mask] > 1).all()


def test_a_light_edge_that_was_kept_counts_for_the_many_that_were_not():
    graph = Graph.from_edges(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), edge_attr=np.array([[1.0], [1], [1], [1e6]]))
    pruner = LSP(k=2, **WEIGHTED)
    mask = pruner.mask_graph(graph, RUN).mask
    light, heavy = pruner.unbiased_factors(graph, mask, RUN)[mask]
    assert heavy == 1 < light


def test_owners_that_keep_none_are_refused():
    graph = Graph.from_edges(np.array([[0, 1, 2, 3], [4, 4, 5, 5]]))
    pruner = LSP(keep=0.25, hash="identity")
    mask = pruner.mask_graph(graph, RUN).mask
    with pytest.raises(OptionError, match="every owner that has edges, and owner [45] keeps none.*rescale=True"):
        pruner.unbiased_factors(graph, mask, RUN)


def test_parallel_edges_are_refused_where_they_are_chosen_among():
    graph = Graph.from_edges(np.array([[0, 0, 1, 2], [4, 4, 4, 5]]))
    for k, refused in ((1, True), (2, True), (3, False)):
        pruner = LSP(k=k, hash="identity")
        mask = pruner.mask_graph(graph, RUN).mask
        if refused:
            with pytest.raises(OptionError, match="edge [01] occurs more than once"):
                pruner.unbiased_factors(graph, mask, RUN)
        else:
            assert pruner.unbiased_factors(graph, mask, RUN).tolist() == [1, 1, 1, 1]


def test_pairs_are_refused():
    refuse_pairs(None)
    with pytest.raises(OptionError, match="symmetric=None"):
        refuse_pairs("union")
    once = np.array([[0, 0, 0], [1, 2, 3]])
    graph = Graph.from_edges(np.concatenate([once, once[::-1]], axis=1), undirected=True)
    pruner = LocalRandom(k=1)
    with pytest.raises(OptionError, match="not undirected"):
        pruner.unbiased_factors(graph, pruner.mask_graph(graph, RUN).mask, RUN)


def test_the_limit_is_the_smallest_key_that_was_not_kept():
    """Keys of weight 1 in units of 1: chances are 1 - 2^-(2^limit / 2^32), up to the rounding of keys."""
    same = {"edge": np.arange(4), "chooser": np.array([0, 0, 0, 1]), "choosers": 2, "kind": "owner"}
    draws = Draws(
        **same, other=np.arange(4), keys=np.array([5, 32, 40, 0]), offsets=np.array([0, 1, 0, 0]), unit=1
    )  # fmt: skip
    found = unbiased_factors(draws, np.array([True, False, False, True]))
    np.testing.assert_allclose(found, [2, 1, 1, 1], rtol=1e-6)
    found = unbiased_factors(draws, np.array([True, True, False, True]))
    np.testing.assert_allclose(found, [1, 1, 1, 1], rtol=1e-6)


def test_draws_are_those_of_the_selection():
    graph = simple_graph()
    pruner = LSP(k=3, **WEIGHTED, self_loops="edge")
    owned = group(graph, pruner, RUN)
    draws = owner_draws(owned, pruner.key_source(graph, owned, RUN))
    mask = pruner.mask_graph(graph, RUN).mask
    for owner in range(10):
        keys = draws.keys[draws.chooser == owner]
        kept = mask[draws.edge[draws.chooser == owner]]
        assert keys[kept].max(initial=-(2**62)) <= keys[~kept].min(initial=2**62)
    assert owner_draws(owned, None).keys is None
