"""Hashes of the two ends of each edge."""

from __future__ import annotations

from lsprune.graph import Array
from lsprune.kernels.reference.splitmix import MASK, mix


def hash_ends(
    start: int, first: Array, second: Array, first_base: Array, second_base: Array, lo: int, hi: int, out: Array
) -> None:
    """Set out[e] to splitmix64 of (start, first id, second id), the ids counted within their graph."""
    for e in range(lo, hi):
        a, b = int(first[e]), int(second[e])
        if len(first_base):
            a, b = a - int(first_base[a]), b - int(second_base[b])
        out[e] = mix(mix(int(start) ^ a) ^ b)


def reverse_balance(source: Array, target: Array, lo: int, hi: int) -> int:
    """Return the sum mod 2^64 of hash(s, t) - hash(t, s): 0 for a graph in which every edge has its reverse."""
    pairs = zip(source[lo:hi].tolist(), target[lo:hi].tolist(), strict=True)
    return sum(mix(mix(s) ^ t) - mix(mix(t) ^ s) for s, t in pairs) & MASK
