"""Rows of a table looked up by neighbour."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def add_to_keys(table: Array, neighbour: Array, extra: Array, out: Array) -> None:
    """Set out[i, z] to table[neighbour[i], z] + extra[i]: the keys of neighbours, with weights added."""
    out[:] = table[neighbour, : out.shape[1]].astype(np.int64) + extra[:, None]


def sum_rows(indptr: Array, neighbour: Array, rows: Array, lo: int, hi: int, sums: Array) -> None:
    """Add to sums[u - lo] the rows of owner u and of its neighbours."""
    for u in range(lo, hi):
        for node in (u, *neighbour[int(indptr[u]) : int(indptr[u + 1])].tolist()):
            sums[u - lo] += rows[node]
