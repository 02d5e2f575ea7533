"""Rows of a table looked up by neighbour."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.intrinsics import CACHE_LINE_BYTES, PREFETCH_ROWS, prefetch
from lsprune.kernels.cpu.jit import kernel


@kernel
def add_to_keys(table, neighbour, extra, out):
    """Set out[i, z] to table[neighbour[i], z] + extra[i]: the keys of neighbours, with weights added."""
    count = out.shape[1]
    for i in range(neighbour.shape[0]):
        row, more = table[neighbour[i]], extra[i]
        for z in range(count):
            out[i, z] = row[z] + more


@kernel
def sum_rows(indptr, neighbour, rows, lo, hi, sums):
    """Add to sums[u - lo] the rows of owner u and of its neighbours, for the owners lo..hi."""
    width, last, flat = rows.shape[1], neighbour.shape[0] - 1, rows.reshape(-1)
    for u in range(lo, hi):
        out, own = sums[u - lo], rows[u]
        for j in range(width):
            out[j] += own[j]
        for slot in range(indptr[u], indptr[u + 1]):
            ahead = np.int64(neighbour[min(slot + PREFETCH_ROWS, last)]) * width
            for j in range(0, width, CACHE_LINE_BYTES // rows.itemsize):
                prefetch(flat, ahead + j)
            other = rows[neighbour[slot]]
            for j in range(width):
                out[j] += other[j]
