from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import cpu, reference

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(
    rows=st.lists(st.lists(st.floats(-(2.0**120), 2.0**120, width=32) | st.just(0.0), max_size=12), max_size=8),
    seed=st.integers(0, 1000),
)
@FEW
def test_unit_rows_and_their_products_are_the_same(rows, seed):
    indptr = np.cumsum([0, *map(len, rows)])
    x = np.array([value for row in rows for value in row], np.float32)
    column = np.array([j for row in rows for j in range(0, 2 * len(row), 2)], np.int32)
    column += np.repeat(np.arange(len(rows), dtype=np.int32) % 2, np.diff(indptr))
    pairs = np.random.default_rng(seed).integers(0, max(len(rows), 1), (2, 15 if rows else 0))
    results = []
    for module in (cpu, reference):
        unit, sparse, dense = np.zeros(x.shape, np.int16), np.zeros(pairs.shape[1], int), np.zeros(pairs.shape[1], int)
        assert module.unit_values(indptr, x, unit) == -1
        module.dot_sparse(indptr, column, unit, indptr, column, unit, *pairs, sparse)
        table = np.zeros((len(rows), 26), np.int16)
        table[np.repeat(np.arange(len(rows)), np.diff(indptr)), column] = unit
        module.dot_dense(table, table, *pairs, dense)
        assert sparse.tolist() == dense.tolist()
        results.append((unit.tolist(), sparse.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("where", [0, 2])
def test_rows_that_are_not_finite_are_found(where):
    x = np.ones((4, 3), np.float32)
    x[where, 1] = np.inf
    for module in (cpu, reference):
        assert module.unit_values(np.arange(5) * 3, x.reshape(-1), np.zeros(12, np.int16)) == where


def test_long_rows_do_not_overflow():
    for row in (np.full(1 << 17, 0.9), np.r_[np.ones(1), np.full((1 << 17) - 1, 2.0**-14 * 1.9)]):
        x = np.tile(row.astype(np.float32), 2)
        unit, out = np.zeros(x.shape, np.int16), np.zeros(2, np.int64)
        assert cpu.unit_values(np.array([0, 1 << 17, 1 << 18]), x, unit) == -1
        table = unit.reshape(2, -1) * np.array([[1], [-1]], np.int16)
        cpu.dot_dense(table, table, np.array([0, 0]), np.array([0, 1]), out)
        exact = int((table[0].astype(np.int64) ** 2).sum())
        assert out.tolist() == [exact, -exact]
        assert exact < 2**29
