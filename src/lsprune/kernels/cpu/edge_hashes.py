"""Hashes of the two ends of each edge. Each span of edges writes its own part of the output."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.splitmix import mix


@kernel
def hash_ends(start, first, second, first_base, second_base, lo, hi, out):
    """Set out[e] to splitmix64 of (start, first id, second id) for the edges lo..hi, ids counted within their graph.

    The bases are indexed by the first and second id, or are empty for a single graph.
    """
    several = first_base.shape[0] > 0
    for e in range(lo, hi):
        a, b = np.int64(first[e]), np.int64(second[e])
        if several:
            a, b = a - first_base[a], b - second_base[b]
        out[e] = mix(mix(start ^ np.uint64(a)) ^ np.uint64(b))


@kernel
def reverse_balance(source, target, lo, hi):
    """Return the sum mod 2^64 of hash(s, t) - hash(t, s): 0 for a graph in which every edge has its reverse."""
    total = np.uint64(0)
    for e in range(lo, hi):
        s, t = np.uint64(source[e]), np.uint64(target[e])
        total += mix(mix(s) ^ t) - mix(mix(t) ^ s)
    return total
