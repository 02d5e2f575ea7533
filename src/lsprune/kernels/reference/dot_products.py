"""Dot products of L2-normalised rows, in integers."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.reference.quantisation import unit_fine


def unit_values(indptr: Array, x: Array, out: Array) -> int:
    """Fill `out` with the entries of L2-normalised CSR rows, in 2^-14. Return the first row not finite, or -1."""
    for row in range(len(indptr) - 1):
        start, stop = int(indptr[row]), int(indptr[row + 1])
        if not np.isfinite(x[start:stop]).all():
            return row
        out[start:stop] = unit_fine([float(value) for value in x[start:stop]], 6)
    return -1


def dot_dense(first: Array, second: Array, rows: Array, columns: Array, out: Array) -> None:
    """Set out[i] to <first[rows[i]], second[columns[i]]>."""
    for i, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        out[i] = sum(x * y for x, y in zip(first[a].tolist(), second[b].tolist(), strict=True))


def dot_sparse(
    first_ptr: Array, first_column: Array, first_value: Array, second_ptr: Array, second_column: Array,
    second_value: Array, rows: Array, columns: Array, out: Array,
) -> None:  # fmt: skip
    """Do the same for CSR rows."""

    def row(ptr: Array, column: Array, value: Array, at: int) -> dict[int, int]:
        here = slice(int(ptr[at]), int(ptr[at + 1]))
        return dict(zip(column[here].tolist(), value[here].tolist(), strict=True))

    for i, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        left, right = row(first_ptr, first_column, first_value, a), row(second_ptr, second_column, second_value, b)
        out[i] = sum(value * right.get(column, 0) for column, value in left.items())
