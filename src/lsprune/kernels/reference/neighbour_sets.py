"""Comparing the neighbours of two nodes as sets: common members and min-hashes."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def min_rows(indptr: Array, neighbour: Array, table: Array, lo: int, hi: int, out: Array) -> None:
    """Set out[u, z] to the smallest table[v, z] over the neighbours v of u, or leave it if there are none."""
    for u in range(lo, hi):
        out[u] = np.minimum.reduce([out[u], *table[neighbour[int(indptr[u]) : int(indptr[u + 1])]]])


def count_equal(indptr: Array, neighbour: Array, rows: Array, lo: int, hi: int, counts: Array) -> None:
    """Add to counts[slot] the number of equal entries in the rows of owner and neighbour."""
    for u in range(lo, hi):
        for slot in range(int(indptr[u]), int(indptr[u + 1])):
            counts[slot] += (rows[u] == rows[neighbour[slot]]).sum()


def count_common(
    indptr: Array, neighbour: Array, begins: Array, members: Array, lo: int, hi: int, counts: Array
) -> None:
    """Set counts[slot] to the number of members that the sets of owner and neighbour have in common."""
    sets = [set(members[int(a) : int(b)].tolist()) for a, b in zip(begins[:-1], begins[1:], strict=True)]
    for u in range(lo, hi):
        for slot in range(int(indptr[u]), int(indptr[u + 1])):
            counts[slot] = len(sets[u] & sets[int(neighbour[slot])])
