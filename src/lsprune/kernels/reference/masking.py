"""Applying a mask to the arrays of a graph."""

from __future__ import annotations

from lsprune.graph import Array


def scatter_taken(taken: Array, edge: Array, lo: int, hi: int, mask: Array) -> None:
    """Set mask[edge[slot]] to whether the slot is taken."""
    mask[edge[lo:hi]] = taken[lo:hi] != 0


def count_rows(indptr: Array, mask: Array, lo: int, hi: int, counts: Array) -> None:
    """Set counts[row + 1] to the number of kept edges of each row of a CSR graph."""
    for row in range(lo, hi):
        counts[row + 1] = sum(mask[int(indptr[row]) : int(indptr[row + 1])].tolist())


def compress(mask: Array, arrays: tuple[Array, ...], out: tuple[Array, ...], threads: int) -> None:
    """Fill each of `out` with array[mask]."""
    for array, to in zip(arrays, out, strict=True):
        to[:] = array[mask]
