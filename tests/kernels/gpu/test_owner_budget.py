from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_budgets import counted, indptr_of, ordered

from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE, degree_counts, hash_order

DEGREES = ([], [0], [3, 0, 3, 1], [LARGE_DEGREE - 1, LARGE_DEGREE, LARGE_DEGREE + 900, 2])


@pytest.mark.parametrize("degrees", DEGREES)
def test_degrees_are_counted_and_large_ones_together(degrees, device):
    counts = degree_counts(tensor(indptr_of(degrees), device)).tolist()
    assert counts == counted(degrees)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("named", [False, True])
def test_owners_of_more_edges_come_in_the_order_of_the_hash(degrees, named, device):
    ids = np.arange(len(degrees))[::-1] * 7 if named else None
    for level, start in ((0, 0), (2, -1), (3, 2**62), (LARGE_DEGREE, -(2**63))):
        order = hash_order(
            tensor(indptr_of(degrees), device), level, start, None if ids is None else tensor(ids, device)
        )
        assert order.tolist() == ordered(degrees, level, start, ids)
