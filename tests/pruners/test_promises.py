"""Items that must stay, may stay or must go: as many as the budget has, and no node beyond its limits."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, Random
from lsprune.kernels import runtime
from lsprune.pruners.promises import JOINS, KEPT, LEAST, PROTECTED, REST, ItemsOfGraph, fitting, items_of_graph

RUN = runtime(1)


def items_of(graph: Graph, pruner, kept: np.ndarray) -> ItemsOfGraph:
    everything = np.arange(graph.num_edges)
    return items_of_graph(graph, pruner, 0, everything, np.ones(graph.num_edges, bool), kept, RUN)


def random_ends(seed: int, nodes: int = 12, edges: int = 60) -> Graph:
    ends = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    return Graph.from_edges(ends[:, ends[0] != ends[1]], num_nodes=nodes)


def test_what_gets_in_is_as_if_one_came_after_the_other():
    rng = np.random.default_rng(0)
    for _ in range(200):
        items, nodes = rng.integers(1, 12), rng.integers(1, 6)
        item, node = np.unique(rng.integers(0, (items, nodes), (20, 2)), axis=0).T
        room, rank = rng.integers(-1, 4, nodes), rng.permutation(items)
        left, expected = room.copy(), np.zeros(items, bool)
        for one in np.argsort(rank):
            mine = node[item == one]
            if mine.size and (left[mine] > 0).all():
                expected[one] = True
                left[mine] -= 1
        np.testing.assert_array_equal(fitting(item, node, room, rank), expected)


def test_single_edges_are_items_of_their_own_and_pairs_are_one():
    graph = Graph.from_edges(np.array([[0, 1, 1, 2, 0], [1, 0, 2, 1, 3]]))
    none = np.zeros(5, bool)
    assert items_of(graph, Random(keep=0.5), none).of_edge.tolist() == [0, 1, 2, 3, 4]
    pairs = items_of(graph, Random(keep=0.5, symmetric="union"), none)
    assert pairs.of_edge[0] == pairs.of_edge[1] and pairs.of_edge[2] == pairs.of_edge[3]
    assert len(set(pairs.of_edge.tolist())) == 3 == pairs.ends.draw.size
    assert pairs.items(np.array([False, True, False, False, False])).sum() == 1


def test_of_parallel_edges_kept_ones_are_paired_with_kept_ones():
    graph = Graph.from_edges(np.array([[0, 0, 1, 1], [1, 1, 0, 0]]))
    pairs = items_of(graph, Random(keep=0.5, symmetric="union"), np.array([True, False, False, True]))
    assert pairs.of_edge[0] == pairs.of_edge[3] != pairs.of_edge[1] == pairs.of_edge[2]


@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_every_node_keeps_its_least_and_no_item_is_marked_in_vain(seed, least):
    graph = random_ends(seed)
    kept = np.random.default_rng(seed).random(graph.num_edges) < 0.3
    items = items_of(graph, Random(keep=0.3), kept)
    level = np.where(kept, KEPT, REST).astype(np.int8)
    level[:2] = PROTECTED, JOINS
    marked = items.least(level, least)
    owner = graph.ends()[1]
    has = np.bincount(owner[marked | (level <= JOINS)], minlength=12)
    degree = np.bincount(owner, minlength=12)
    assert (has >= np.minimum(degree, least)).all()
    must = np.bincount(owner[level <= JOINS], minlength=12)
    np.testing.assert_array_equal(has, np.maximum(np.minimum(degree, least), must))
    assert not marked[level <= JOINS].any()


def test_as_many_items_stay_as_were_kept_or_as_must():
    graph = random_ends(1)
    kept = np.random.default_rng(1).random(graph.num_edges) < 0.3
    items = items_of(graph, Random(keep=0.3), kept)
    level = np.where(kept, KEPT, REST).astype(np.int8)
    selected, exceeded = items.within(kept, level)
    np.testing.assert_array_equal(selected, kept)
    assert not exceeded
    level[np.flatnonzero(~kept)[:3]] = LEAST
    selected, exceeded = items.within(kept, level)
    assert selected.sum() == kept.sum() and selected[level == LEAST].all() and not exceeded
    level[:] = LEAST
    selected, exceeded = items.within(kept, level)
    assert selected.all() and exceeded


def test_no_node_exceeds_its_maximum_unless_edges_must_stay():
    graph = random_ends(2, edges=90)
    all_edges = np.ones(graph.num_edges, bool)
    items = items_of(graph, Random(keep=0.9), all_edges)
    level = np.full(graph.num_edges, KEPT, np.int8)
    source, target = graph.ends()
    stays = ~items.over(all_edges, level, (2, None))
    assert np.bincount(target[stays]).max() == 2 < np.bincount(source[stays]).max()
    stays = ~items.over(all_edges, level, (3, 2))
    assert np.bincount(target[stays]).max() <= 3 and np.bincount(source[stays]).max() <= 2
    level[:] = PROTECTED
    assert not items.over(all_edges, level, (1, 1)).any()
