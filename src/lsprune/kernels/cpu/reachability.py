"""Sets of nodes as bits: who reaches whom, for thousands of nodes at once."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel


@kernel
def spread_bits(indptr, neighbour, here, there, changed, lo, hi):
    """Set there[v] to here[v] | here[t] over the edges v -> t, for the nodes lo..hi.

    changed[0] becomes 1 if a bit is new. No race: a thread writes its own rows of `there` and reads `here`; all write
    the same value to `changed`.
    """
    words = here.shape[1]
    for v in range(lo, hi):
        for w in range(words):
            there[v, w] = here[v, w]
        for slot in range(indptr[v], indptr[v + 1]):
            t = neighbour[slot]
            for w in range(words):
                there[v, w] |= here[t, w]
        new = np.uint64(0)
        for w in range(words):
            new |= there[v, w] ^ here[v, w]
        if new:
            changed[0] = 1


@kernel
def count_bits(rows, lo, hi, sizes):
    """Add to sizes[v] the number of bits set in row v, for the rows lo..hi."""
    one, two, four = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    for v in range(lo, hi):
        total = np.uint64(0)
        for w in range(rows.shape[1]):
            word = rows[v, w]
            word = word - ((word >> np.uint64(1)) & one)
            word = (word & two) + ((word >> np.uint64(2)) & two)
            word = (word + (word >> np.uint64(4))) & four
            total += (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
        sizes[v] += np.int64(total)
