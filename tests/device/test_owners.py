"""Edges grouped by owner on a device: the order of the host, and no sorting where they are sorted already."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, numpy_of, torch

from graphs import random_graph
from lsprune import Graph, LocalRandom
from lsprune.device import owners
from lsprune.device.graph import from_tensors, upload
from lsprune.device.owners import group, local_ids, neighbour_base, neighbour_base_of_owner, node_base, which_graph
from lsprune.selection import owners as host_owners

POINTERS, OTHERS = torch.tensor([0, 2, 2, 5]), torch.tensor([1, 0, 2, 0, 1])  # self-loops of 0 and 2


@pytest.fixture
def no_sort(monkeypatch):
    """Fail where something is sorted."""
    monkeypatch.setattr(torch, "sort", None)
    monkeypatch.setattr(torch, "argsort", None)


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("order", ["any", "by source", "by target"])
def test_slots_are_those_of_the_host(side, self_loops, order):
    graph = random_graph(0, nodes=20, edges=150)
    if order != "any":
        ends = np.stack(graph.ends())
        ends = ends[:, np.argsort(ends[int(order == "by target")], kind="stable")]
        graph = Graph.from_edges(ends, num_nodes=20)
    rules = LocalRandom(k=1, side=side, self_loops=self_loops)
    here, there = host_owners.group(graph, rules, HOST), group(upload(graph, "cpu"), rules)
    slots = here.neighbour.shape[0]
    np.testing.assert_array_equal(numpy_of(there.indptr), here.indptr)
    np.testing.assert_array_equal(numpy_of(there.neighbour), here.neighbour)
    np.testing.assert_array_equal(numpy_of(there.edges(0, slots)), here.edges(0, slots))
    assert there.loops is None


@pytest.mark.parametrize("rows", ["source", "target"])
def test_compressed_rows_of_the_owners_are_taken_as_they_are(rows, no_sort):
    graph = from_tensors(indptr=POINTERS, indices=OTHERS, rows=rows, num_nodes=3)
    side = "in" if rows == "target" else "out"
    owned = group(graph, LocalRandom(k=1, side=side, self_loops="edge"))
    assert owned.edge is None
    assert owned.neighbour.data_ptr() == OTHERS.data_ptr() and owned.indptr.data_ptr() == POINTERS.data_ptr()
    without = group(graph, LocalRandom(k=1, side=side, self_loops="drop"))
    assert without.indptr.tolist() == [0, 1, 1, 3]
    assert (without.neighbour.tolist(), without.edge.tolist()) == ([1, 0, 1], [0, 3, 4])


def test_edges_that_are_sorted_by_owner_are_not_sorted_again(no_sort):
    source, target = torch.tensor([2, 1, 0, 2]), torch.tensor([0, 0, 1, 1])
    owned = group(from_tensors((source, target)), LocalRandom(k=1))
    assert owned.edge is None and owned.neighbour.data_ptr() == source.data_ptr()
    assert owned.indptr.tolist() == [0, 2, 4, 4]


def test_other_edges_are_sorted_and_know_their_places():
    source, target = torch.tensor([2, 1, 0, 2]), torch.tensor([1, 0, 1, 0])
    owned = group(from_tensors((source, target)), LocalRandom(k=1))
    assert (owned.indptr.tolist(), owned.neighbour.tolist()) == ([0, 2, 4, 4], [1, 2, 2, 0])
    assert owned.edge.tolist() == [1, 3, 0, 2]


def test_self_loops_stay_in_place_where_they_are_kept_and_may_stay(no_sort):
    graph = from_tensors(indptr=POINTERS, indices=OTHERS, rows="target", num_nodes=3)
    owned = group(graph, LocalRandom(k=1, self_loops="free"), loops_may_stay=True)
    assert owned.edge is None and owned.neighbour.data_ptr() == OTHERS.data_ptr()
    assert owned.loops.tolist() == [1, 0, 1]
    for self_loops in ("edge", "drop"):
        assert group(graph, LocalRandom(k=1, self_loops=self_loops), loops_may_stay=True).loops is None
    none = from_tensors((torch.tensor([0, 1]), torch.tensor([1, 2])))
    assert group(none, LocalRandom(k=1), loops_may_stay=True).loops is None


@pytest.mark.parametrize("slots", [1, 7, 40, 10**6])
def test_ranges_of_owners_cover_all_slots(slots):
    graph = random_graph(1, nodes=30, edges=200)
    rules = LocalRandom(k=1, self_loops="edge")
    here, there = host_owners.group(graph, rules, HOST), group(upload(graph, "cpu"), rules)
    ranges = list(there.blocks(slots))
    assert [lo for lo, _ in ranges] == [0, *(hi for _, hi in ranges[:-1])] and ranges[-1][1] == 30
    assert len(ranges) > 1 or slots >= 200
    for lo, hi in ranges:
        assert there.bounds(lo, hi) == here.bounds(lo, hi)
        np.testing.assert_array_equal(numpy_of(there.owners(lo, hi)), here.owners(lo, hi))
        np.testing.assert_array_equal(numpy_of(there.edges(*there.bounds(lo, hi))), here.edges(*here.bounds(lo, hi)))
    counts = there.count_neighbours(torch.zeros(30, dtype=torch.int64))
    np.testing.assert_array_equal(numpy_of(counts), np.bincount(graph.ends()[0], minlength=30))


def test_no_owners_have_no_ranges():
    empty = owners.DeviceOwned(torch.zeros(1, dtype=torch.int64), torch.empty(0, dtype=torch.int64), None)
    assert list(empty.blocks()) == [] and empty.edges(0, 0).tolist() == []


def test_ids_count_from_the_start_of_each_graph():
    ptr = torch.tensor([0, 3, 3, 5])
    assert node_base(ptr, 5).tolist() == [0, 0, 0, 3, 3] and node_base(None, 5) is None
    assert local_ids(ptr, 5, "cpu").tolist() == [0, 1, 2, 0, 1]
    assert local_ids(None, 3, "cpu").tolist() == [0, 1, 2]
    member, graphs = which_graph(ptr, 5, pooled=False, device="cpu")
    assert (member.tolist(), graphs) == ([0, 0, 0, 2, 2], 3)
    for pooled, offsets in ((True, ptr), (False, None)):
        member, graphs = which_graph(offsets, 5, pooled=pooled, device="cpu")
        assert (member.tolist(), graphs) == ([0] * 5, 1)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("seed", range(6))
def test_bases_are_those_of_the_host(seed, side):
    graph = any_graph(np.random.default_rng(seed))
    there = upload(graph, "cpu")
    expected = host_owners.neighbour_base(graph, side, HOST)
    np.testing.assert_array_equal(numpy_of(neighbour_base(there, side)), expected)
    of_owner = neighbour_base_of_owner(there, side)
    expected = host_owners.neighbour_base_of_owner(graph, side)
    np.testing.assert_array_equal([] if of_owner is None else numpy_of(of_owner), expected)
