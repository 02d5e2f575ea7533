"""Facts about edges are those that a list of them shows. `test_edge_facts_triton` has the same lists for Triton."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch
from gpu_edges import defined_balance, defined_facts, defined_loops, defined_row_facts, edge_lists, rows_of_lengths

from lsprune.kernels.gpu.edge_facts import SIZE, EdgeFacts, edge_facts, reverse_balance, row_facts

LISTS, ROWS = edge_lists(), rows_of_lengths()


def zeros(count: int, device, dtype=torch.int32):
    return torch.zeros(count, dtype=dtype, device=device)


def facts_of(s, t, device, nodes: int = 60) -> tuple[EdgeFacts, list[int]]:
    loops, facts = zeros(nodes, device), zeros(SIZE, device, torch.int64)
    edge_facts(tensor(s, device), tensor(t, device), loops, facts)
    return EdgeFacts.of_edges(facts.tolist()), loops.tolist()


def facts_of_rows(indptr, other, device) -> tuple[list[int], list[int]]:
    loops, facts = zeros(len(indptr) - 1, device), zeros(SIZE, device, torch.int64)
    row_facts(tensor(np.asarray(indptr), device), tensor(np.asarray(other), device), loops, facts)
    return facts.tolist()[:7], loops.tolist()


@pytest.mark.parametrize("name", LISTS)
def test_facts_are_those_of_the_definition(name, device):
    s, t = LISTS[name]
    assert facts_of(s, t, device) == (defined_facts(s, t), defined_loops(s, t, 60))


@pytest.mark.parametrize("name", LISTS)
def test_the_balance_is_zero_if_every_edge_has_its_reverse(name, device):
    s, t = LISTS[name]
    edges = sorted(zip(s.tolist(), t.tolist(), strict=True))
    reversible = edges == sorted((b, a) for a, b in edges)
    balance = int(reverse_balance(tensor(s, device), tensor(t, device)))
    assert balance == defined_balance(s, t) and (balance == 0) == reversible


@pytest.mark.parametrize("extreme", [-(2**63), -1, 2**63 - 1, 2**63 - 2])
def test_ids_at_the_ends_of_their_range_are_seen(extreme, device):
    facts, _ = facts_of(np.array([0, 1]), np.array([extreme, 0]), device)
    low, high = facts.lowest_target, facts.highest_target
    assert (low < 0) == (extreme < 0) and (high > 2**60) == (extreme > 0)
    numbers, _ = facts_of_rows([0, 1, 2], [extreme, 0], device)
    of_rows = EdgeFacts.of_rows(numbers, 2, "source")
    assert (of_rows.lowest_target, of_rows.highest_target) == (low, high)


def test_sorted_edges_are_known_as_such(device):
    for name, sorted_ends in (("sorted by source", (True, False)), ("sorted by target", (False, True)),
                              ("falls at a block border", (False, True)), ("loops alone", (True, True))):  # fmt: skip
        facts, _ = facts_of(*LISTS[name], device)
        assert (facts.by_source, facts.by_target) == sorted_ends


def test_no_edges_have_no_ids(device):
    none = np.zeros(0, np.int64)
    facts, loops = facts_of(none, none, device)
    assert facts == EdgeFacts(0, -1, 0, -1, 0, True, True) and not any(loops)
    assert int(reverse_balance(tensor(none, device), tensor(none, device))) == 0
    for indptr in ([0], [0, 0, 0]):
        assert facts_of_rows(indptr, none, device)[0] == [0] * 7


def test_loops_are_added_to_those_that_are_there_and_not_beyond_the_end(device):
    ring, facts = tensor(np.arange(10), device), zeros(SIZE, device, torch.int64)
    loops = torch.full((4,), 5, dtype=torch.int32, device=device)
    edge_facts(ring, ring, loops, facts)
    assert facts[4] == 10
    assert loops.tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_have_the_facts_of_their_edges(name, dtype, device):
    lengths = ROWS[name]
    row = np.repeat(np.arange(len(lengths)), lengths)
    other = np.random.default_rng(2).integers(0, len(lengths), len(row)).astype(dtype)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    facts, loops = facts_of_rows(indptr, other, device)
    assert facts == defined_row_facts(indptr, other)
    assert loops == defined_loops(row, other, len(lengths))


def test_rows_are_one_end_of_their_edges():
    numbers = [0, 8, 1, 0, 9, 0, 2, 0]
    assert EdgeFacts.of_rows(numbers, 5, "source") == EdgeFacts(0, 4, 0, 7, 1, True, False, 2)
    assert EdgeFacts.of_rows(numbers, 5, "target") == EdgeFacts(0, 7, 0, 4, 1, False, True, 2)


@pytest.mark.parametrize("indptr", [[0, 2, 3], [5, 6, 7], [0, 900, 2, 10], [9, 4, 0], [-3, 2, 10]])
def test_broken_pointers_do_no_harm(indptr, device):
    facts, loops = facts_of_rows(indptr, np.arange(10), device)
    assert facts[:2] == [0, 10] and sum(loops) == facts[2]
    assert facts[3:6] == [indptr[0], indptr[-1], sum(np.diff(indptr) < 0)]
