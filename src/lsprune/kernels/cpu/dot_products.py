"""Dot products of L2-normalised rows, in integers."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.intrinsics import CACHE_LINE_BYTES, PREFETCH_ROWS, prefetch
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.quantisation import NOT_FINITE, largest, unit_factor

UNIT_EXPONENT = 6  # `unit_factor` adds 8 bits: L2-normalised rows in units of 2^-14


@kernel
def unit_values(indptr, x, out):
    """Fill `out` with the entries of L2-normalised CSR rows, in 2^-14. Return the first row not finite, or -1."""
    bits = x.view(np.int32)
    for row in range(indptr.shape[0] - 1):
        start, stop = indptr[row], indptr[row + 1]
        top = largest(bits[start:stop])
        if top >= NOT_FINITE:
            return row
        factor = unit_factor(x[start:stop], top, UNIT_EXPONENT)
        for i in range(start, stop):
            out[i] = np.int32(x[i] * factor)
    return -1


@kernel
def dot_dense(first, second, rows, columns, out):
    """Set out[i] to <first[rows[i]], second[columns[i]]>, of rows from `unit_values`: sums stay below 2^29."""
    width, last, flat = first.shape[1], columns.shape[0] - 1, second.reshape(-1)
    for i in range(rows.shape[0]):
        ahead = np.int64(columns[min(i + PREFETCH_ROWS, last)]) * width
        for j in range(0, width, CACHE_LINE_BYTES // second.itemsize):
            prefetch(flat, ahead + j)
        a, b, total = first[rows[i]], second[columns[i]], np.int32(0)
        for j in range(width):
            total = np.int32(total + np.int32(np.int32(a[j]) * np.int32(b[j])))
        out[i] = total


@kernel
def dot_sparse(
    first_ptr, first_column, first_value, second_ptr, second_column, second_value, rows, columns, out
):  # fmt: skip
    """Do the same for CSR rows whose columns ascend."""
    for i in range(rows.shape[0]):
        a, a_end = first_ptr[rows[i]], first_ptr[rows[i] + 1]
        b, b_end = second_ptr[columns[i]], second_ptr[columns[i] + 1]
        total = np.int64(0)
        while a < a_end and b < b_end:
            left, right = first_column[a], second_column[b]
            if left == right:
                total += np.int64(first_value[a]) * np.int64(second_value[b])
            a += left <= right
            b += right <= left
        out[i] = total
