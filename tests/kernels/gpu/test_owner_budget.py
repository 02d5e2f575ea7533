from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_budgets import counted, indptr_of, loops_of, ordered

from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE, counted_degree, degree_counts, hash_order

DEGREES = ([], [0], [3, 0, 3, 1], [LARGE_DEGREE - 1, LARGE_DEGREE, LARGE_DEGREE + 900, 2])


def optional(array, device):
    return None if array is None else tensor(array, device)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("with_loops", [False, True])
def test_degrees_are_counted_and_large_ones_together(degrees, with_loops, device):
    loops = loops_of(degrees) if with_loops else None
    counts = degree_counts(tensor(indptr_of(degrees), device), optional(loops, device)).tolist()
    assert counts == counted(degrees, loops)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("with_loops", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_owners_of_more_edges_come_in_the_order_of_the_hash(degrees, with_loops, named, device):
    ids = np.arange(len(degrees))[::-1] * 7 if named else None
    loops = loops_of(degrees) if with_loops else None
    indptr = tensor(indptr_of(degrees), device)
    for level, start in ((0, 0), (2, -1), (3, 2**62), (LARGE_DEGREE, -(2**63))):
        order = hash_order(indptr, optional(loops, device), level, start, optional(ids, device))
        assert order.tolist() == ordered(degrees, loops, level, start, ids)


def test_self_loops_that_do_not_count_are_no_part_of_a_degree(device):
    indptr = tensor(np.array([0, 3, 3, 7]), device)
    assert counted_degree(indptr, None).tolist() == [3, 0, 4]
    assert counted_degree(indptr, tensor(np.array([1, 0, 4], np.int32), device)).tolist() == [2, 0, 0]
