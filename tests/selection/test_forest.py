"""Spanning forests that prefer what comes first."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph
from lsprune.selection.forest import forest
from lsprune.selection.items import Items


def items_of(source, target) -> Items:
    return Items(source, target, source, target, np.zeros(source.size, np.uint64))


def greedy(nodes: int, source, target, order) -> list[int]:
    """Kruskal's algorithm: an edge stays if its ends are not joined yet."""
    part = list(range(nodes))
    kept = []
    for edge in order:
        first, second = part[source[edge]], part[target[edge]]
        if first != second:
            part = [first if one == second else one for one in part]
            kept.append(int(edge))
    return sorted(kept)


@pytest.mark.parametrize("seed", range(5))
def test_the_forest_is_that_of_kruskal_in_any_order(seed):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, 25, (2, 60))  # with self-loops and parallel edges, in parts
    graph, order = Graph.from_edges((source, target), num_nodes=25), rng.permutation(60)
    found = forest(graph, items_of(source, target), order)
    assert np.flatnonzero(found).tolist() == greedy(25, source, target, order)


def test_two_kinds_of_nodes_have_ids_of_their_own():
    source, target = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    graph = Graph.from_edges((source, target), num_nodes=(2, 2))
    assert forest(graph, items_of(source, target), np.arange(4)).tolist() == [True, True, True, False]
    assert forest(graph, items_of(source, target), np.arange(4)[::-1]).tolist() == [False, True, True, True]


def test_where_nothing_is_joined_there_is_no_forest():
    loops = np.array([0, 1, 1])
    graph = Graph.from_edges((loops, loops), num_nodes=2)
    assert not forest(graph, items_of(loops, loops), np.arange(3)).any()
