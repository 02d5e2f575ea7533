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
def mark(ids, mask, lo, hi, marked):
    """marked[ids[e]] = 1 where mask[e].

    Threads may write the same byte, but all write the same value; looking first keeps the cache lines shared.
    """
    for e in range(lo, hi):
        if mask[e] and marked[ids[e]] == 0:
            marked[ids[e]] = 1


@kernel
def mark_rows(indptr, mask, lo, hi, marked):
    """marked[row] = 1 for the rows lo..hi of a CSR graph that have an edge with mask."""
    for row in range(lo, hi):
        for e in range(indptr[row], indptr[row + 1]):
            if mask[e]:
                marked[row] = 1
                break
