"""Pruners that choose over the whole graph, to the exact share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from graphs import random_graph
from lsprune import Graph, LocalRandom, OptionError, Random
from lsprune.baselines import DSpar
from lsprune.kernels import runtime
from lsprune.pruners import PRUNERS
from lsprune.pruners.global_pruner import GlobalPruner

WHOLE = [method for method in PRUNERS.values() if issubclass(method, GlobalPruner)]


def weighted_graph() -> Graph:
    """A graph with weights that are not negative."""
    graph = random_graph(2, nodes=30, edges=300)
    return dataclasses.replace(graph, edge_weight=np.random.default_rng(0).exponential(1, 300))


def test_k_is_as_many_edges_as_a_local_pruner_keeps():
    graph = weighted_graph()
    for method in WHOLE:
        for side in ("in", "out"):
            assert method(k=3, side=side).mask(graph).sum() == LocalRandom(k=3, side=side).mask(graph).sum()


def test_union_and_intersection_are_the_same():
    graph = weighted_graph()
    for method in WHOLE:
        masks = [method(keep=0.4, symmetric=mode).mask(graph) for mode in ("union", "intersection")]
        np.testing.assert_array_equal(*masks)


def test_no_two_methods_are_the_same():
    graph = weighted_graph()
    assert Random in WHOLE
    assert len({tuple(method(keep=0.1).mask(graph)) for method in WHOLE}) == len(WHOLE) == 5


@pytest.mark.parametrize("method", [Random, DSpar])
def test_unbiased_factors_over_seeds(method):
    ends = np.unique(random_graph(2, nodes=12, edges=60).ends(), axis=1)
    ends = ends[:, ends[0] != ends[1]]
    graph, value = Graph.from_edges(ends, num_nodes=12), np.random.default_rng(0).uniform(0, 1, ends.shape[1])
    sums, run = [], runtime(1)
    for seed in range(2000):
        pruner = method(keep=0.3, seed=seed)
        mask = pruner.mask_graph(graph, run).mask
        sums.append((value * pruner.unbiased_factors(graph, mask, run))[mask].sum())
    error = np.std(sums) / len(sums) ** 0.5
    assert abs(np.mean(sums) - value.sum()) < 3 * error


def test_unbiased_factors_of_random_are_those_of_each_graph():
    ends, ptr = np.array([[0, 1, 2, 4, 5], [1, 2, 0, 5, 4]]), np.array([0, 4, 6])
    graph = Graph.from_edges(ends, ptr=ptr)
    for pooled, factors in ((False, {1.5, 2.0}), (True, {5 / 3})):
        pruner = Random(keep=0.6, pooled=pooled)
        mask = pruner.mask_graph(graph, runtime(1)).mask
        found = pruner.unbiased_factors(graph, mask, runtime(1))
        assert set(found[mask].tolist()) == {float(np.float32(factor)) for factor in factors}


def test_parallel_edges_and_graphs_that_keep_none_have_no_unbiased_factors():
    run = runtime(1)
    for ends, keep, message in (
        ([[0, 0, 1], [1, 1, 2]], 0.5, "occurs more than once"),
        ([[0, 1, 2], [1, 2, 0]], 0.1, "graph 0 keeps none"),
    ):
        graph = Graph.from_edges(np.array(ends))
        for method in (Random, DSpar):
            with pytest.raises(OptionError, match=message):
                method(keep=keep).unbiased_factors(graph, method(keep=keep).mask_graph(graph, run).mask, run)
