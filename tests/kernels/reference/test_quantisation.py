from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import reference
from lsprune.kernels.reference.quantisation import quanta_of, unit_fine

X = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0], [1e-3, 2e-3, 2e-3]], np.float32)


def test_unit_rows_are_normalised_and_do_not_depend_on_their_length():
    assert unit_fine([3.0, -4.0], 8) == [round(0.6 * 2**16) - 1, -round(0.8 * 2**16) + 1]  # cut towards zero
    assert unit_fine([3.0 * 2**90, -4.0 * 2**90], 8) == unit_fine([3.0, -4.0], 8)
    assert unit_fine([0.0, 2.0**-120], 8) == [0, 0]


def test_raw_rows_are_fixed_point_and_clipped():
    assert quanta_of([0.5, -0.25, 1e9], False, 4, [0, 1, 0]) == [8, -5, 32767]
    assert quanta_of([1.0, 0.0], True, 10, [0, 128 << 8]) == [127, -127]


@pytest.mark.parametrize("unit", [True, False])
def test_quanta_are_those_of_single_rows(unit):
    out = np.zeros(X.shape, np.int16)
    assert reference.quanta(X, unit, 7, np.array([0, 3, 5]), out) == -1
    assert out.tolist() == [quanta_of(row, unit, 7, [0, 3, 5]) for row in X.tolist()]


def test_statistics_are_those_of_normalised_rows():
    norms = np.maximum(np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True), 1e-300)
    unit = X / norms * 2**16
    sums, histogram, squares = np.zeros(3, np.int64), np.zeros(64, np.int64), np.zeros(3, np.int64)
    assert reference.unit_sums(X, sums) == -1
    np.testing.assert_allclose(sums, unit.sum(axis=0), atol=3)
    reference.unit_spread(X, np.zeros(3, int), histogram, squares)
    assert histogram.sum() == 9 and histogram[0] == 4
    np.testing.assert_allclose(squares, (unit**2).sum(axis=0), rtol=1e-4)


def test_sparse_rows_add_up_as_dense_ones():
    dense, sparse = np.zeros(3, np.int64), np.zeros(3, np.int64)
    reference.unit_sums(X, dense)
    indptr, indices = np.array([0, 2, 2, 5]), np.array([0, 1, 0, 1, 2])
    reference.sparse_sums(indptr, indices, X[X != 0], sparse)
    assert sparse.tolist() == dense.tolist()


def test_the_largest_entry_and_rows_that_are_not_finite():
    assert reference.raw_top(X) == int(np.float32(4).view(np.int32))
    bad = X.copy()
    bad[1, 0] = np.nan
    assert reference.raw_top(bad) >= 255 << 23
    assert reference.unit_sums(bad, np.zeros(3, np.int64)) == 1
