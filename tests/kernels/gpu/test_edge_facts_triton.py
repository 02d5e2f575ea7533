from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch
from gpu_edges import defined_balance, defined_facts, defined_loops, defined_row_facts, edge_lists, rows_of_lengths
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu import edge_facts_triton as kernels
from lsprune.kernels.gpu.edge_facts import SIZE, EdgeFacts
from lsprune.kernels.gpu.edge_facts_triton import edge_facts, reverse_balance, row_facts

LISTS, ROWS = edge_lists(), rows_of_lengths()


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@pytest.fixture(params=[1, kernels.PROGRAMS])
def programs(request, monkeypatch):
    """A single program reads several blocks; or each block has its own."""
    monkeypatch.setattr(kernels, "PROGRAMS", request.param)


def zeros(count: int, dtype=torch.int32):
    return torch.zeros(count, dtype=dtype, device=DEVICE)


def facts_of(s, t, loops) -> EdgeFacts:
    facts = zeros(SIZE, torch.int64)
    edge_facts(s, t, loops, facts)
    return EdgeFacts.of_edges(facts.tolist())


def facts_of_rows(indptr, other) -> tuple[list[int], list[int]]:
    loops, facts = zeros(len(indptr) - 1), zeros(SIZE, torch.int64)
    row_facts(tensor(np.asarray(indptr), DEVICE), tensor(np.asarray(other), DEVICE), loops, facts)
    return facts.tolist()[:7], loops.tolist()


@runs
@pytest.mark.parametrize("name", LISTS)
def test_facts_are_those_of_the_definition(name, programs):
    s, t = LISTS[name]
    loops, there = zeros(60), (tensor(s, DEVICE), tensor(t, DEVICE))
    assert facts_of(*there, loops) == defined_facts(s, t)
    assert loops.tolist() == defined_loops(s, t, 60)
    assert int(reverse_balance(*there)) == defined_balance(s, t)


@runs
@pytest.mark.parametrize("extreme", [-(2**63), -1, 2**63 - 1, 2**63 - 2])
def test_ids_at_the_ends_of_their_range_are_seen(extreme):
    facts = facts_of(tensor(np.array([0, 1]), DEVICE), tensor(np.array([extreme, 0]), DEVICE), zeros(2))
    low, high = facts.lowest_target, facts.highest_target
    assert (low < 0) == (extreme < 0) and (high > 2**60) == (extreme > 0)
    numbers, _ = facts_of_rows([0, 1, 2], [extreme, 0])
    of_rows = EdgeFacts.of_rows(numbers, 2, "source")
    assert (of_rows.lowest_target, of_rows.highest_target) == (low, high)


@runs
def test_loops_beyond_the_last_known_node_are_not_written():
    ring, loops = tensor(np.arange(10), DEVICE), torch.full((6,), 5, dtype=torch.int32, device=DEVICE)
    assert facts_of(ring, ring, loops[:4]).loops == 10
    assert loops.tolist() == [6, 6, 6, 6, 5, 5]


@runs
def test_ends_may_lie_apart_in_memory():
    edges = np.random.default_rng(3).integers(0, 9, (100, 2))
    across = tensor(edges, DEVICE).t()
    assert facts_of(across[0], across[1], zeros(9)) == defined_facts(edges[:, 0], edges[:, 1])


@runs
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_have_the_facts_of_their_edges(name, dtype, programs):
    lengths = ROWS[name]
    row = np.repeat(np.arange(len(lengths)), lengths)
    other = np.random.default_rng(2).integers(0, len(lengths), len(row)).astype(dtype)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    facts, loops = facts_of_rows(indptr, other)
    assert facts == defined_row_facts(indptr, other)
    assert loops == defined_loops(row, other, len(lengths))


@runs
@pytest.mark.parametrize("indptr", [[0, 2, 3], [5, 6, 7], [0, 900, 2, 10], [9, 4, 0], [-3, 2, 10]])
def test_broken_pointers_do_no_harm(indptr):
    facts, loops = facts_of_rows(indptr, np.arange(10))
    assert facts[:2] == [0, 10] and sum(loops) == facts[2]
    assert facts[3:6] == [indptr[0], indptr[-1], sum(np.diff(indptr) < 0)]
