from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_budgets import counted, indptr_of, loops_of, ordered
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.owner_budget_triton import COUNT_BLOCK, LARGE_DEGREE, degree_counts, hash_order


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("owners", [1, 40, COUNT_BLOCK, COUNT_BLOCK + 1])
@pytest.mark.parametrize("largest", [3, LARGE_DEGREE, 4 * LARGE_DEGREE])
def test_degrees_are_counted_and_large_ones_together(owners, largest):
    degrees = np.random.default_rng(owners).integers(0, largest + 1, owners)
    indptr, loops = tensor(indptr_of(degrees), DEVICE), loops_of(degrees)
    assert degree_counts(indptr, None).tolist() == counted(degrees, None)
    assert degree_counts(indptr, tensor(loops, DEVICE)).tolist() == counted(degrees, loops)


@runs
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("with_loops", [False, True])
def test_owners_of_more_edges_come_in_the_order_of_the_hash(named, with_loops):
    degrees = np.random.default_rng(2).integers(0, 6, 1030)
    ids = np.arange(len(degrees))[::-1].copy() * 7 if named else None
    loops = loops_of(degrees) if with_loops else None
    there = [None if array is None else tensor(array, DEVICE) for array in (loops, ids)]
    for level, start in ((0, 0), (1, 1), (2, -1), (3, 2**62), (9, -(2**63))):
        order = hash_order(tensor(indptr_of(degrees), DEVICE), there[0], level, start, there[1])
        assert order.tolist() == ordered(degrees, loops, level, start, ids)
