"""One pass over the edges: hashes of their ends, tests on the whole graph. Spans write to places of their own."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.choose import mix
from lsprune.kernels.cpu.jit import kernel


@kernel
def hash_ends(start, first, second, first_base, second_base, lo, hi, out):
    """out[e] = splitmix64 of (start, first id, second id) for the edges lo..hi, ids local to their graph.

    The bases are indexed by the first and second id, or are empty for a single graph.
    """
    several = first_base.shape[0] > 0
    for e in range(lo, hi):
        a, b = np.int64(first[e]), np.int64(second[e])
        if several:
            a, b = a - first_base[a], b - second_base[b]
        out[e] = mix(mix(start ^ np.uint64(a)) ^ np.uint64(b))


@kernel
def balance(source, target, lo, hi):
    """Sum mod 2^64 of hash(s, t) - hash(t, s): 0 over the whole graph when every edge has its reverse."""
    total = np.uint64(0)
    for e in range(lo, hi):
        s, t = np.uint64(source[e]), np.uint64(target[e])
        total += mix(mix(s) ^ t) - mix(mix(t) ^ s)
    return total


@kernel
def touch(first, second, mask, lo, hi, had, has):
    """had[id] = 1 for both ends of every edge lo..hi that is no self-loop, has[id] = 1 where mask keeps it.

    Threads may write the same byte, but all write the same value; looking first keeps the cache lines shared.
    """
    for e in range(lo, hi):
        a, b = first[e], second[e]
        if a != b:
            if had[a] == 0:
                had[a] = 1
            if had[b] == 0:
                had[b] = 1
            if mask[e]:
                if has[a] == 0:
                    has[a] = 1
                if has[b] == 0:
                    has[b] = 1


@kernel
def any_in_rows(indptr, taken, lo, hi, has):
    """has[row] = 1 for the rows lo..hi in which something is taken."""
    for row in range(lo, hi):
        for slot in range(indptr[row], indptr[row + 1]):
            if taken[slot]:
                has[row] = 1
                break


@kernel
def touch_neighbours(neighbour, taken, without, lo, hi, had, has):
    """had and has as in `touch`, for those neighbours in the slots lo..hi that are marked in `without`."""
    for slot in range(lo, hi):
        v = neighbour[slot]
        if without[v]:
            had[v] = 1
            if taken[slot]:
                has[v] = 1
