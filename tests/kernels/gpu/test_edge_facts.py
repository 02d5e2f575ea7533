"""Facts about edges are those that a list of them shows. `test_edge_facts_triton` has the same lists for Triton."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch
from gpu_edges import defined_facts, defined_loops, edge_lists, rows_of_lengths

from lsprune.kernels.gpu.edge_facts import COUNT, EdgeFacts, edge_facts, row_facts

LISTS, ROWS = edge_lists(), rows_of_lengths()


def facts_of(s, t, device, nodes: int = 60) -> tuple[EdgeFacts, list[int]]:
    loops = torch.zeros(nodes, dtype=torch.int32, device=device)
    return EdgeFacts(*edge_facts(tensor(s, device), tensor(t, device), loops).tolist()), loops.tolist()


@pytest.mark.parametrize("name", LISTS)
def test_facts_are_those_of_the_definition(name, device):
    s, t = LISTS[name]
    facts, loops = facts_of(s, t, device)
    assert facts == EdgeFacts(*defined_facts(s, t))
    assert loops == defined_loops(s, t, 60)


@pytest.mark.parametrize("name", LISTS)
def test_the_balance_is_zero_if_every_edge_has_its_reverse(name, device):
    s, t = LISTS[name]
    edges = sorted(zip(s.tolist(), t.tolist(), strict=True))
    reversible = edges == sorted((b, a) for a, b in edges)
    assert (facts_of(s, t, device)[0].balance == 0) == reversible


def test_sorted_edges_are_known_as_such(device):
    for name, sorted_ends in (("sorted by source", (True, False)), ("sorted by target", (False, True)),
                              ("falls at a block border", (False, True)), ("loops alone", (True, True))):  # fmt: skip
        facts, _ = facts_of(*LISTS[name], device)
        assert (facts.by_source, facts.by_target) == sorted_ends


def test_no_edges_have_no_ids(device):
    none = np.zeros(0, np.int64)
    facts, loops = facts_of(none, none, device)
    assert facts == EdgeFacts(0, -1, 0, -1, 0, 0, 0, 0) and not any(loops)
    assert facts.by_source and facts.by_target
    empty = tensor(none, device)
    assert edge_facts(empty, empty, empty.int()).shape == (COUNT,)
    for indptr in ([0], [0, 0, 0]):
        assert row_facts(tensor(np.array(indptr), device), empty, empty.int()).tolist() == [0, -1, 0, 0, 0, 0, 0]


def test_loops_are_added_to_those_that_are_there_and_not_beyond_the_end(device):
    ring = tensor(np.arange(10), device)
    loops = torch.full((4,), 5, dtype=torch.int32, device=device)
    assert edge_facts(ring, ring, loops)[4] == 10
    assert loops.tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_have_the_facts_of_their_edges(name, dtype, device):
    lengths = ROWS[name]
    row = np.repeat(np.arange(len(lengths)), lengths)
    other = np.random.default_rng(2).integers(0, len(lengths), len(row)).astype(dtype)
    loops = torch.zeros(len(lengths), dtype=torch.int32, device=device)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    found = row_facts(tensor(indptr, device), tensor(other, device), loops)
    assert found.tolist() == [*defined_facts(row, other)[2:6], 0, len(row), 0]
    assert loops.tolist() == defined_loops(row, other, len(lengths))


@pytest.mark.parametrize("indptr", [[0, 2, 3], [5, 6, 7], [0, 900, 2, 10], [9, 4, 0], [-3, 2, 10]])
def test_broken_pointers_do_no_harm(indptr, device):
    loops = torch.zeros(len(indptr) - 1, dtype=torch.int32, device=device)
    found = row_facts(tensor(np.array(indptr), device), tensor(np.arange(10), device), loops).tolist()
    assert found[:2] == [0, 9] and sum(loops.tolist()) == found[2]
    assert found[4:] == [indptr[0], indptr[-1], sum(np.diff(indptr) < 0)]


def test_entries_outside_of_all_rows_are_in_the_first_or_last(device):
    loops = torch.zeros(2, dtype=torch.int32, device=device)
    for indptr, other in (([0, 2, 3], 1), ([4, 6, 10], 0)):
        ids = tensor(np.full(10, other), device)
        row_facts(tensor(np.array(indptr), device), ids, loops)
    assert loops.tolist() == [6, 8]
