"""Which nodes have an edge before and after pruning."""

from __future__ import annotations

from lsprune.kernels.cpu.jit import kernel


@kernel
def mark_ends(first, second, mask, lo, hi, before, after):
    """Set before[id] to 1 for both ends of every edge but self-loops, and after[id] where the mask keeps the edge.

    Threads may write the same byte, but all write the same value; reading it first keeps the cache lines shared.
    """
    for e in range(lo, hi):
        a, b = first[e], second[e]
        if a != b:
            if before[a] == 0:
                before[a] = 1
            if before[b] == 0:
                before[b] = 1
            if mask[e]:
                if after[a] == 0:
                    after[a] = 1
                if after[b] == 0:
                    after[b] = 1


@kernel
def mark_owners(indptr, taken, lo, hi, after):
    """Set after[owner] to 1 for the owners lo..hi that keep an edge."""
    for row in range(lo, hi):
        for slot in range(indptr[row], indptr[row + 1]):
            if taken[slot]:
                after[row] = 1
                break


@kernel
def mark_neighbours(neighbour, taken, keeps_none, lo, hi, before, after):
    """Set before and after as `mark_ends` does, for neighbours in lo..hi that keep none of the edges they own."""
    for slot in range(lo, hi):
        v = neighbour[slot]
        if keeps_none[v]:
            before[v] = 1
            if taken[slot]:
                after[v] = 1
