from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from lsprune.kernels.cpu import intrinsics

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("width", [8, 16])
def test_rows_are_compared_and_folded_lane_by_lane(width):
    at_most, fold = (getattr(intrinsics, f"{name}_{width}") for name in ("at_most", "fold"))
    table = RNG.integers(-3, 4, (20, width)).astype(np.int32)
    least, who = np.full(width, 2**31 - 1, np.int32), np.zeros(width, np.int32)
    compared = njit(lambda table, row, held: at_most(table, row, held))
    folded = njit(lambda table, row, least, who, index: fold(table, row, least, who, np.int32(index)))
    for row in range(20):
        expected = table[: row + 1].min(axis=0)
        assert compared(table, row, least) == sum(1 << z for z in range(width) if table[row, z] <= least[z])
        equal = sum(1 << z for z in range(width) if table[row, z] == least[z])
        assert folded(table, row, least, who, row) == equal
        np.testing.assert_array_equal(least, expected)
        np.testing.assert_array_equal(who, table[: row + 1].argmin(axis=0))


@pytest.mark.parametrize("bits", [1, 2, 12, 2**31, 2**32 - 1])
def test_the_lowest_bit_is_found(bits):
    lowest = njit(lambda bits: intrinsics.lowest_bit(np.uint32(bits)))
    assert lowest(bits) == (bits & -bits).bit_length() - 1


@pytest.mark.parametrize("width", [8, 16])
def test_sums_are_weighted_exactly(width):
    q, weights = RNG.integers(-127, 128, (4, 9)).astype(np.int8), RNG.integers(-9999, 9999, (9, width)).astype(np.int32)
    out = np.zeros((4, width), np.int32)
    weighted_sum = getattr(intrinsics, f"weighted_sum_{width}")
    njit(lambda q, weights, out, row: weighted_sum(q, weights, out, row))(q, weights, out, 2)
    np.testing.assert_array_equal(out[2], q[2].astype(np.int64) @ weights)
    assert not out[[0, 1, 3]].any()


def test_eight_products_are_added_up_exactly():
    q, weights = (RNG.integers(-127, 128, shape).astype(np.int16) for shape in ((64,), (16, 64)))
    out = np.zeros((3, 16), np.int32)
    dots = njit(lambda q, weights, first, out, row: intrinsics.dots(q, weights, first, 2, out, row))
    dots(q, weights, 8, out, 1)
    np.testing.assert_array_equal(out[1, 8:], weights[8:].astype(np.int64) @ q)
    assert not out[1, :8].any() and not out[[0, 2]].any()
