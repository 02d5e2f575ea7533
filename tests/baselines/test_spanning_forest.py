from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphs import random_graph
from lsprune import Graph, Random
from lsprune.baselines import SpanningForest
from lsprune.kernels.reference import mix
from lsprune.numeric.random_numbers import EDGE


def components(graph: Graph, mask: np.ndarray) -> int:
    source, target = (end[mask] for end in graph.ends())
    target = target + (graph.num_sources if graph.bipartite else 0)
    matrix = coo_array((np.ones(source.size), (source, target)), shape=(graph.num_nodes,) * 2)
    return int(connected_components(matrix, directed=False)[0])


def kruskal(graph: Graph, seed: int = 0) -> list[int]:
    """Edges by their draws, each kept if it joins what is not joined yet; then all others by their draws."""
    source, target = (end.tolist() for end in graph.ends())
    start = mix(mix(seed) ^ EDGE)
    order = sorted(range(graph.num_edges), key=lambda e: (mix(mix(start ^ source[e]) ^ target[e]), e))
    order = [e for e in order if source[e] != target[e]]
    group, forest = list(range(graph.num_nodes)), []
    for e in order:
        a, b = group[source[e]], group[target[e]]
        if a != b:
            forest.append(e)
            group = [a if one == b else one for one in group]
    return forest + [e for e in order if e not in forest]


@pytest.mark.parametrize("seed", range(5))
def test_the_forest_comes_first_and_then_chance(seed):
    graph = random_graph(seed, nodes=15, edges=40)
    order = kruskal(graph, seed)
    source, target = graph.ends()
    for count in (1, 7, 20, len(order)):
        expected = source == target
        expected[order[:count]] = True
        np.testing.assert_array_equal(SpanningForest(keep=count / len(order), seed=seed).mask(graph), expected)


@pytest.mark.parametrize("symmetric", [None, "union"])
@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
def test_what_was_connected_stays_connected(symmetric, self_loops):
    for seed in range(6):
        graph = random_graph(seed, nodes=40, edges=120)
        pruner = SpanningForest(keep=0.4, symmetric=symmetric, self_loops=self_loops, seed=seed)
        mask = pruner.mask(graph)
        assert mask.sum() < 60
        assert components(graph, mask) == components(graph, np.ones(120, bool))
        by_chance = Random(keep=0.4, symmetric=symmetric, self_loops=self_loops, seed=seed).mask(graph)
        assert components(graph, by_chance) > components(graph, mask)


def test_a_small_budget_keeps_forest_edges_alone():
    graph = random_graph(2, nodes=30, edges=120)
    mask = SpanningForest(keep=0.1, self_loops="drop").mask(graph)
    assert components(graph, mask) == 30 - mask.sum()  # every edge joins two components


def test_two_kinds_of_nodes():
    ends = np.random.default_rng(0).integers(0, 10, (2, 60))
    graph = Graph.from_edges(ends, num_nodes=(10, 10))
    whole = components(graph, np.ones(60, bool))
    mask = SpanningForest(keep=(20 - whole) / 60).mask(graph)
    assert (int(mask.sum()), components(graph, mask)) == (20 - whole, whole)


def test_one_of_several_edges_between_two_nodes_is_enough():
    ends = np.array([[0, 1, 0, 1, 1, 2, 1], [1, 0, 1, 0, 2, 1, 2]])
    for seed in range(10):
        mask = SpanningForest(keep=2 / 7, seed=seed).mask(Graph.from_edges(ends))
        assert (int(mask[:4].sum()), int(mask[4:].sum())) == (1, 1)


def test_other_seeds_give_other_forests():
    graph = random_graph(2, nodes=30, edges=120)
    assert len({tuple(SpanningForest(keep=0.3, seed=seed).mask(graph)) for seed in range(8)}) == 8
