"""Edges grouped by owner, ids within their graph, and work shared out over owners."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from graphs import random_graph
from lsprune import Graph, LocalRandom
from lsprune.graph import Grouped, Owned
from lsprune.kernels import runtime
from lsprune.selection import owners
from lsprune.selection.owners import (
    bases,
    by_owner,
    group,
    local_ids,
    neighbour_base_of_owner,
    node_base,
    over_owners,
    which_graph,
)

RUN = runtime(2)


@pytest.mark.parametrize("executor", ["cpu", "reference"])
@pytest.mark.parametrize("self_loops", ["free", "edge"])
@pytest.mark.parametrize("side", ["in", "out"])
def test_every_owner_has_its_edges_in_the_callers_order(side, self_loops, executor):
    graph = random_graph(0, nodes=20, edges=150)
    owned = group(graph, LocalRandom(k=1, side=side, self_loops=self_loops), runtime(2, executor))
    source, target = graph.ends()
    owner, neighbour = (target, source) if side == "in" else (source, target)
    real = (source != target) | (self_loops == "edge")
    for node in range(20):
        start, stop = owned.indptr[node], owned.indptr[node + 1]
        expected = np.flatnonzero((owner == node) & real)
        np.testing.assert_array_equal(owned.edges(start, stop), expected)
        np.testing.assert_array_equal(owned.neighbour[start:stop], neighbour[expected])


@pytest.mark.parametrize("rows", ["source", "target"])
def test_compressed_rows_of_the_owners_are_taken_as_they_are(rows):
    indptr, other = np.array([0, 2, 2, 5]), np.array([1, 0, 2, 0, 1])
    graph = Graph.from_csr(indptr, other, rows=rows)
    owned = by_owner(graph, "in" if rows == "target" else "out", RUN)
    assert owned.edge is None
    np.testing.assert_array_equal(owned.indptr, indptr)
    np.testing.assert_array_equal(owned.neighbour, other)
    without = group(graph, LocalRandom(k=1, side="in" if rows == "target" else "out"), RUN)
    assert without.neighbour.tolist() == [1, 0, 1] and without.edge.tolist() == [0, 3, 4]


def test_ids_count_from_the_start_of_each_graph():
    ptr = np.array([0, 3, 3, 5])
    assert node_base(ptr).tolist() == [0, 0, 0, 3, 3]
    assert local_ids(ptr, 5).tolist() == [0, 1, 2, 0, 1]
    assert node_base(None).size == 0 and local_ids(None, 5) is None
    member, graphs = which_graph(ptr, 5, False)
    assert (member.tolist(), graphs) == ([0, 0, 0, 2, 2], 3)
    assert which_graph(ptr, 5, True)[1] == which_graph(None, 5, False)[1] == 1


def test_bases_are_those_of_either_side():
    ends = np.array([[0, 1, 2], [0, 1, 1]])
    graph = Graph.from_edges(ends, num_nodes=(3, 2), ptr=(np.array([0, 2, 3]), np.array([0, 1, 2])))
    own, other = bases(graph, "in")
    assert (own.tolist(), other.tolist()) == ([0, 1], [0, 0, 2])
    assert [base.tolist() for base in bases(graph, "out")] == [[0, 0, 2], [0, 1]]
    assert neighbour_base_of_owner(graph, "in").tolist() == [0, 2]
    assert neighbour_base_of_owner(graph, "out").tolist() == [0, 0, 1]
    assert neighbour_base_of_owner(Graph.from_edges(ends), "in").size == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_ranges_of_owners_cover_all_of_them_once(threads, monkeypatch):
    monkeypatch.setattr(owners, "BLOCK_EDGES", 10)
    degree = np.random.default_rng(0).integers(0, 9, 200)
    owned = Owned(np.append(0, np.cumsum(degree)), np.zeros(int(degree.sum()), int), None)
    seen = []
    over_owners(owned, runtime(threads), lambda lo, hi: seen.append((lo, hi)))
    seen.sort()
    assert seen[0][0] == 0 and seen[-1][1] == 200
    assert all(before[1] == after[0] for before, after in pairwise(seen))
    assert max(owned.indptr[hi] - owned.indptr[lo] for lo, hi in seen) < 10 + 9 * 2
    some = []
    over_owners(owned, runtime(threads), lambda lo, hi: some.append((lo, hi)), lambda lo, hi: lo >= 100)
    assert sorted(some) == [span for span in seen if span[0] >= 100]


def test_a_graph_that_was_grouped_before_is_not_grouped_again():
    graph = random_graph(0)
    owned = by_owner(graph, "in", RUN)
    held = replace(graph, grouped=Grouped(owned, "in", True, graph.num_edges))
    assert by_owner(held, "in", RUN) is owned
    with pytest.raises(AssertionError, match="grouped for another pruner"):
        by_owner(held, "out", RUN)
