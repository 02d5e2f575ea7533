from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


@pytest.mark.parametrize("kind", [np.int8, np.int16])
@pytest.mark.parametrize("width", [1, 7, 64, 130])
def test_rows_of_neighbours_are_added_up(kind, width):
    rng = np.random.default_rng(width)
    indptr = np.array([0, 3, 3, 9], np.int64)
    neighbour, rows = rng.integers(0, 3, 9), rng.integers(-127, 128, (3, width)).astype(kind)
    expected = [rows[u].astype(int) + rows[neighbour[indptr[u] : indptr[u + 1]]].astype(int).sum(0) for u in range(3)]
    for module in (cpu, reference):
        for sums in (np.zeros((2, width), np.int32), np.zeros((2, width), np.int64)):
            module.sum_rows(indptr, neighbour, rows, 1, 3, sums)
            np.testing.assert_array_equal(sums, expected[1:])


def test_keys_of_neighbours_with_something_added():
    rng = np.random.default_rng(0)
    table, neighbour = rng.integers(-(2**31), 2**31, (20, 8)).astype(np.int32), rng.integers(0, 20, 50)
    extra = rng.integers(-(2**40), 2**40, 50)
    for module in (cpu, reference):
        out = np.empty((50, 5), np.int64)
        module.add_to_keys(table, neighbour, extra, out)
        np.testing.assert_array_equal(out, table[neighbour, :5].astype(np.int64) + extra[:, None])
