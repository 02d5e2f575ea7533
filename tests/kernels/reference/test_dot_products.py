from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_products_of_normalised_rows_are_cosines():
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    units, out = np.zeros(24, np.int16), np.zeros(4, np.int64)
    assert reference.unit_values(np.arange(5) * 6, x.reshape(-1), units) == -1
    units = units.reshape(4, 6)
    rows, columns = np.array([0, 1, 2, 3]), np.array([1, 1, 3, 0])
    reference.dot_dense(units, units, rows, columns, out)
    norms = np.linalg.norm(x, axis=1)
    np.testing.assert_allclose(out / 2**28, (x[rows] * x[columns]).sum(1) / norms[rows] / norms[columns], atol=1e-3)


def test_sparse_rows_multiply_where_both_have_an_entry():
    out = np.zeros(1, np.int64)
    begins, column, value = np.array([0, 2, 5]), np.array([0, 3, 0, 2, 3]), np.array([2, 5, 7, 11, 13])
    reference.dot_sparse(begins, column, value, begins, column, value, np.array([0]), np.array([1]), out)
    assert out.tolist() == [2 * 7 + 5 * 13]
