from __future__ import annotations

import numpy as np

from lsprune.kernels import reference

RNG = np.random.default_rng(0)
X = (RNG.standard_normal((6, 5)) * (RNG.random((6, 5)) < 0.5)).astype(np.float32)
WEIGHTS, CENTRE = RNG.integers(-100, 100, (3, 5)).astype(np.int16), np.array([0, 2, -7, 90, 4], np.int32)


def test_projections_are_products_of_the_integers():
    for unit in (True, False):
        q, out = np.zeros(X.shape, np.int16), np.zeros((6, 3), np.int64)
        reference.quanta(X, unit, 6, CENTRE, q)
        assert reference.project(X, unit, 6, CENTRE, WEIGHTS, out) == -1
        np.testing.assert_array_equal(out, q.astype(np.int64) @ WEIGHTS.T)
        again = np.zeros((6, 4), np.int64)
        reference.project_quanta(q, WEIGHTS, again)
        np.testing.assert_array_equal(again[:, :3], out)


def test_sparse_rows_are_projected_as_dense_ones():
    rows, columns = np.nonzero(X)
    indptr = np.searchsorted(rows, np.arange(7))
    dense, sparse = np.zeros((6, 3), np.int64), np.zeros((6, 3), np.int64)
    reference.project(X, True, 6, CENTRE, WEIGHTS, dense)
    assert reference.project_sparse(indptr, columns, X[rows, columns], True, 6, CENTRE, WEIGHTS, sparse) == -1
    np.testing.assert_array_equal(sparse, dense)
