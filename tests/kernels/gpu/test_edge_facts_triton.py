from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch
from gpu_edges import defined_facts, defined_loops, edge_lists, rows_of_lengths
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu import edge_facts_triton as kernels
from lsprune.kernels.gpu.edge_facts_triton import edge_facts, row_facts

LISTS, ROWS = edge_lists(), rows_of_lengths()


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@pytest.fixture(params=[1, kernels.PROGRAMS])
def programs(request, monkeypatch):
    """A single program reads several blocks; or each block has its own."""
    monkeypatch.setattr(kernels, "PROGRAMS", request.param)


@runs
@pytest.mark.parametrize("name", LISTS)
def test_facts_are_those_of_the_definition(name, programs):
    s, t = LISTS[name]
    loops = torch.zeros(60, dtype=torch.int32, device=DEVICE)
    assert edge_facts(tensor(s, DEVICE), tensor(t, DEVICE), loops).tolist() == defined_facts(s, t)
    assert loops.tolist() == defined_loops(s, t, 60)


@runs
def test_loops_beyond_the_last_known_node_are_not_written():
    ring, loops = tensor(np.arange(10), DEVICE), torch.full((6,), 5, dtype=torch.int32, device=DEVICE)
    assert edge_facts(ring, ring, loops[:4])[4] == 10
    assert loops.tolist() == [6, 6, 6, 6, 5, 5]


@runs
def test_ends_may_lie_apart_in_memory():
    edges = np.random.default_rng(3).integers(0, 9, (100, 2))
    across, loops = tensor(edges, DEVICE).t(), torch.zeros(9, dtype=torch.int32, device=DEVICE)
    assert edge_facts(across[0], across[1], loops).tolist() == defined_facts(edges[:, 0], edges[:, 1])


@runs
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_have_the_facts_of_their_edges(name, dtype, programs):
    lengths = ROWS[name]
    row = np.repeat(np.arange(len(lengths)), lengths)
    other = np.random.default_rng(2).integers(0, len(lengths), len(row)).astype(dtype)
    loops = torch.zeros(len(lengths), dtype=torch.int32, device=DEVICE)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    found = row_facts(tensor(indptr, DEVICE), tensor(other, DEVICE), loops)
    assert found.tolist() == [*defined_facts(row, other)[2:6], 0, len(row), 0]
    assert loops.tolist() == defined_loops(row, other, len(lengths))


@runs
@pytest.mark.parametrize("indptr", [[0, 2, 3], [5, 6, 7], [0, 900, 2, 10], [9, 4, 0], [-3, 2, 10]])
def test_broken_pointers_do_no_harm(indptr):
    loops = torch.zeros(len(indptr) - 1, dtype=torch.int32, device=DEVICE)
    found = row_facts(tensor(np.array(indptr), DEVICE), tensor(np.arange(10), DEVICE), loops).tolist()
    assert found[:2] == [0, 9] and sum(loops.tolist()) == found[2]
    assert found[4:] == [indptr[0], indptr[-1], sum(np.diff(indptr) < 0)]


@runs
def test_entries_outside_of_all_rows_are_in_the_first_or_last():
    loops = torch.zeros(2, dtype=torch.int32, device=DEVICE)
    for indptr, other in (([0, 2, 3], 1), ([4, 6, 10], 0)):
        ids = tensor(np.full(10, other), DEVICE)
        row_facts(tensor(np.array(indptr), DEVICE), ids, loops)
    assert loops.tolist() == [6, 8]
