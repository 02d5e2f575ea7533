"""Edges or pairs that are chosen over the whole graph: the smallest, and the links between their ends."""

from __future__ import annotations

import numpy as np

from lsprune import Graph
from lsprune.selection.items import Items, links_of, smallest


def test_equal_keys_go_by_draw_and_then_by_position():
    keys, draws = np.array([1, 0, 1, 1, 1, 2]), np.array([5, 9, 4, 4, 7, 0], np.uint64)
    same = np.zeros(6, np.int64), np.zeros(6, np.int64)
    for count, expected in enumerate([[], [1], [1, 2], [1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4], list(range(6))]):
        one = smallest(keys, draws, np.zeros(0, np.int64), np.array([count]), same)
        assert np.flatnonzero(one).tolist() == expected
        member = np.repeat([0, 1], 6)
        both = smallest(np.tile(keys, 2), np.tile(draws, 2), member, np.array([count, 2]), same)
        assert np.flatnonzero(both).tolist() == [*expected, 7, 8]


def test_edges_of_several_graphs_with_one_budget_go_by_their_ids_in_all_graphs_together():
    draws = np.full(4, 7, np.uint64)  # the edge 0 -> 1 of four graphs of two nodes
    source, target = np.array([4, 0, 6, 2]), np.array([5, 1, 7, 3])
    for count, expected in enumerate([[], [1], [1, 3], [0, 1, 3], [0, 1, 2, 3]]):
        selected = smallest(draws, draws, np.zeros(0, np.int64), np.array([count]), (source, target))
        assert np.flatnonzero(selected).tolist() == expected


def test_links_are_undirected_and_each_is_there_once():
    source, target = np.array([3, 1, 3, 0, 2, 1]), np.array([1, 3, 1, 2, 2, 0])
    items = Items(source, target, source, target, np.zeros(6, np.uint64))
    links = links_of(Graph.from_edges((source, target)), items)
    assert list(zip(links.low.tolist(), links.high.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 3)]
    assert links.of_item.tolist() == [2, 2, 2, 1, -1, 0]
    links = links_of(Graph.from_edges((source, target), num_nodes=(4, 4)), items)
    assert list(zip(links.low.tolist(), links.high.tolist(), strict=True)) == [(0, 6), (1, 4), (1, 7), (2, 6), (3, 5)]
