"""Which nodes have an edge before and after pruning."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def mark_ends(first: Array, second: Array, mask: Array, lo: int, hi: int, before: Array, after: Array) -> None:
    """Set before[id] to 1 for both ends of every edge but self-loops, and after[id] where the mask keeps the edge."""
    for a, b, kept in zip(first[lo:hi], second[lo:hi], mask[lo:hi], strict=True):
        if a != b:
            before[[a, b]] = 1
            after[[a, b]] |= np.uint8(kept)


def mark_owners(indptr: Array, taken: Array, lo: int, hi: int, after: Array) -> None:
    """Set after[owner] to 1 for the owners lo..hi that keep an edge."""
    for row in range(lo, hi):
        after[row] |= np.uint8(any(taken[int(indptr[row]) : int(indptr[row + 1])]))


def mark_neighbours(
    neighbour: Array, taken: Array, keeps_none: Array, lo: int, hi: int, before: Array, after: Array
) -> None:
    """Set before and after as `mark_ends` does, for those neighbours that keep none of the edges they own."""
    for slot in range(lo, hi):
        if keeps_none[neighbour[slot]]:
            before[neighbour[slot]] = 1
            after[neighbour[slot]] |= np.uint8(taken[slot] != 0)
