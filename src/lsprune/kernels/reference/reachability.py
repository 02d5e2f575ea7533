"""Sets of nodes as bits: who reaches whom."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def spread_bits(indptr: Array, neighbour: Array, here: Array, there: Array, changed: Array, lo: int, hi: int) -> None:
    """Set there[v] to here[v] | here[t] over the edges v -> t; set changed[0] to 1 if a bit is new."""
    for v in range(lo, hi):
        targets = neighbour[int(indptr[v]) : int(indptr[v + 1])]
        there[v] = np.bitwise_or.reduce(here[[v, *targets]], axis=0)
        changed[0] |= np.uint8((there[v] != here[v]).any())


def count_bits(rows: Array, lo: int, hi: int, sizes: Array) -> None:
    """Add to sizes[v] the number of bits set in row v."""
    for v in range(lo, hi):
        sizes[v] += sum(int(word).bit_count() for word in rows[v])
