from __future__ import annotations

import numpy as np

from graphs import random_graph
from lsprune import Graph, LocalRandom, Random
from lsprune.pruners import PRUNERS
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items, links_of, smallest

WHOLE = [method for method in PRUNERS.values() if issubclass(method, GlobalPruner)]


def test_equal_keys_go_by_draw_and_then_by_position():
    keys, draws = np.array([1, 0, 1, 1, 1, 2]), np.array([5, 9, 4, 4, 7, 0], np.uint64)
    for count, expected in enumerate([[], [1], [1, 2], [1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4], list(range(6))]):
        one = smallest(keys, draws, np.zeros(0, np.int64), np.array([count]))
        assert np.flatnonzero(one).tolist() == expected
        member = np.repeat([0, 1], 6)
        both = smallest(np.tile(keys, 2), np.tile(draws, 2), member, np.array([count, 2]))
        assert np.flatnonzero(both).tolist() == [*expected, 7, 8]


def test_k_is_as_many_edges_as_a_local_pruner_keeps():
    graph = random_graph(2, nodes=30, edges=300)
    for method in WHOLE:
        for side in ("in", "out"):
            assert method(k=3, side=side).mask(graph).sum() == LocalRandom(k=3, side=side).mask(graph).sum()


def test_union_and_intersection_are_the_same():
    graph = random_graph(2, nodes=30, edges=300)
    for method in WHOLE:
        masks = [method(keep=0.4, symmetric=mode).mask(graph) for mode in ("union", "intersection")]
        np.testing.assert_array_equal(*masks)


def test_no_two_methods_are_the_same():
    graph = random_graph(2, nodes=30, edges=300)
    assert Random in WHOLE
    assert len({tuple(method(keep=0.1).mask(graph)) for method in WHOLE}) == len(WHOLE) == 4


def test_links_are_undirected_and_each_is_there_once():
    source, target = np.array([3, 1, 3, 0, 2, 1]), np.array([1, 3, 1, 2, 2, 0])
    items = Items(source, target, source, target, np.zeros(6, np.uint64))
    links = links_of(Graph.from_edges((source, target)), items)
    assert list(zip(links.low.tolist(), links.high.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 3)]
    assert links.of_item.tolist() == [2, 2, 2, 1, -1, 0]
    links = links_of(Graph.from_edges((source, target), num_nodes=(4, 4)), items)
    assert list(zip(links.low.tolist(), links.high.tolist(), strict=True)) == [(0, 6), (1, 4), (1, 7), (2, 6), (3, 5)]
