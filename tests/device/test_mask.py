"""Masks in the caller's order, self-loops in place, and isolated nodes, on a device."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, any_pruner, both, device_run, numpy_of, torch

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom
from lsprune.device.graph import from_tensors, upload
from lsprune.device.mask import isolated_nodes, to_mask
from lsprune.device.mask import outcome as outcome_there
from lsprune.device.owners import group
from lsprune.selection.mask import outcome

SOURCE, TARGET = [0, 1, 2, 1, 2, 1], [1, 1, 0, 0, 2, 2]  # edges 1 and 4 are self-loops


def graph():
    return from_tensors((torch.tensor(SOURCE), torch.tensor(TARGET)), num_nodes=3)


@pytest.mark.parametrize(
    ("self_loops", "expected"),
    [("free", [True, True, False, True, True, False]), ("drop", [True, False, False, True, False, False])],
)
def test_self_loops_that_take_no_part_stay_or_go(self_loops, expected):
    owned = group(graph(), LocalRandom(k=1, self_loops=self_loops))
    assert owned.edge.tolist() == [2, 3, 0, 5]  # by owner
    taken = torch.tensor([0, 1, 1, 0], dtype=torch.uint8)
    assert to_mask(graph(), owned, taken, self_loops).tolist() == expected


def test_slots_that_are_edges_are_the_mask_itself():
    sorted_graph = from_tensors((torch.tensor([1, 2, 0]), torch.tensor([0, 0, 1])))
    owned = group(sorted_graph, LocalRandom(k=1))
    taken = torch.tensor([1, 0, 1], dtype=torch.uint8)
    mask = to_mask(sorted_graph, owned, taken, "free")
    assert mask.dtype == torch.bool and mask.tolist() == [True, False, True] and mask.data_ptr() == taken.data_ptr()
    assert to_mask(sorted_graph, owned, torch.tensor([3, 0, 7], dtype=torch.int32), "free").tolist() == mask.tolist()


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("budget", [{"k": 0}, {"k": 1}, {"k": 4}, {"keep": 0.05}, {"keep": 0.6}])
def test_self_loops_are_free_like_any_edge_or_dropped(self_loops, side, budget):
    given = random_graph(3, nodes=8, edges=90)
    source, target = given.ends()
    host, device = both(LSP(**budget, self_loops=self_loops, side=side), given)
    assert device == host
    loops = np.array(device[1])[source == target]
    assert loops.size > 3 and (self_loops == "edge" or set(loops.tolist()) == {self_loops == "free"})


def test_isolated_nodes_are_counted_whatever_is_known_of_the_owners():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        given = any_graph(rng, edges=(1, 5, 60))
        rules = any_pruner(rng, given)
        there = upload(given, "cpu")
        owned = group(there, rules)
        taken = torch.from_numpy(rng.integers(0, 2, owned.neighbour.shape[0]).astype(np.uint8))
        mask = numpy_of(to_mask(there, owned, taken, rules.self_loops))
        counted = isolated_nodes(there, owned, taken, rules, owners_keep=False)
        assert int(0 if counted is None else counted) == outcome(given, mask, HOST).isolated


def test_owners_that_keep_an_edge_are_not_looked_up():
    star = Graph.from_edges(np.array([[1, 2, 3, 4], [0, 0, 0, 5]]), num_nodes=6)
    there, rules = upload(star, "cpu"), LocalRandom(k=1)
    owned = group(there, rules)
    taken = torch.tensor([0, 1, 0, 1], dtype=torch.uint8)
    for owners_keep in (False, True):
        assert int(isolated_nodes(there, owned, taken, rules, owners_keep=owners_keep)) == 2  # 1 and 3


@pytest.mark.parametrize("k", [1, 2])
def test_compressed_rows_leave_out_the_count_where_every_neighbour_owns_an_edge(k):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        owner, neighbour = np.sort(rng.integers(0, 12, 40)), rng.integers(0, 12, 40)
        lengths = np.bincount(owner, minlength=12)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        there = from_tensors(indptr=torch.tensor(indptr), indices=torch.tensor(neighbour), rows="target", num_nodes=12)
        found = LocalRandom(k=k).mask_graph(there, device_run())
        given = Graph.from_csr(indptr, neighbour, rows="target", num_nodes=12)
        assert found.isolated == outcome(given, numpy_of(found.mask), HOST).isolated
        assert (there.facts.to_ownerless == 0) == bool((lengths[neighbour] > 0).all())


def test_two_kinds_of_nodes_have_no_isolated_ones():
    pair = Graph.from_edges(np.array([[0, 1], [1, 1]]), num_nodes=(2, 2))
    assert LocalRandom(k=0).mask_graph(upload(pair, "cpu"), device_run()).isolated == 0


def test_the_outcome_of_any_mask_is_that_of_the_host():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        given = any_graph(rng, edges=(0, 1, 5, 60))
        mask = rng.random(given.num_edges) < 0.4
        here, there = outcome(given, mask, HOST), outcome_there(upload(given, "cpu"), torch.from_numpy(mask))
        assert (there.isolated, there.kept) == (here.isolated, int(mask.sum()))
