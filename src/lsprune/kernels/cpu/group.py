"""Edges grouped by owner: a stable counting sort, of two levels for many owners, so that random writes stay in cache.

Level 1 deals the edges into buckets of 2^BITS neighbouring owners; level 2 counts inside a bucket, whose edges fit the
cache. Edges of one owner keep the caller's order. Why no race: every (bucket, chunk) and every bucket writes a region
of its own, fixed by prefix sums before a thread starts.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel

BITS = 12


@kernel
def count_chunk(owner, neighbour, lo, hi, skip, counts):
    """Add to `counts[bucket]` the edges lo..hi of each bucket; `skip` leaves self-loops out."""
    for e in range(lo, hi):
        if not skip or owner[e] != neighbour[e]:
            counts[owner[e] >> BITS] += 1


@kernel
def deal_chunk(owner, neighbour, lo, hi, first, skip, starts, low, other, place):
    """Write the edges lo..hi to their buckets: low owner bits, neighbour, position (that of edge 0 being `first`)."""
    mask = (1 << BITS) - 1
    for e in range(lo, hi):
        u = owner[e]
        v = neighbour[e]
        if not skip or u != v:
            at = starts[u >> BITS]
            starts[u >> BITS] = at + 1
            low[at] = u & mask
            other[at] = v
            place[at] = first + e


@kernel
def sort_bucket(first, lo, hi, low, other, place, indptr, neighbour, edge):
    """Sort one bucket by owner into the final arrays and fill its part of `indptr`."""
    owners = min(1 << BITS, indptr.shape[0] - 1 - first)
    at = np.zeros(owners + 1, np.int64)
    for e in range(lo, hi):
        at[np.int64(low[e]) + 1] += 1
    at[0] = lo
    for u in range(owners):
        at[u + 1] += at[u]
        indptr[first + u + 1] = at[u + 1]
    for e in range(lo, hi):
        u = np.int64(low[e])
        to = at[u]
        at[u] = to + 1
        neighbour[to] = other[e]
        edge[to] = place[e]


@kernel
def count_owners(owner, neighbour, lo, hi, skip, counts):
    """Add to `counts[owner]` the edges lo..hi of each owner; `skip` leaves self-loops out."""
    for e in range(lo, hi):
        if not skip or owner[e] != neighbour[e]:
            counts[owner[e]] += 1


@kernel
def place_chunk(owner, neighbour, lo, hi, skip, starts, sorted_neighbour, sorted_edge):
    """Write the edges lo..hi straight to their owners' slots: one level, for owners whose counters fit the cache."""
    for e in range(lo, hi):
        u = owner[e]
        v = neighbour[e]
        if not skip or u != v:
            at = starts[u]
            starts[u] = at + 1
            sorted_neighbour[at] = v
            sorted_edge[at] = e


@kernel
def count_loops(indptr, neighbour, lo, hi):
    """Number of self-loops in the rows lo..hi of a CSR graph."""
    found = 0
    u, stop = lo, indptr[lo + 1]
    for e in range(indptr[lo], indptr[hi]):  # one flat loop: rows are short
        while e >= stop:
            u += 1
            stop = indptr[u + 1]
        found += neighbour[e] == u
    return found


@kernel
def drop_loops(indptr, neighbour, lo, hi, to, clean_indptr, clean, edge):
    """Write the rows lo..hi without their self-loops from slot `to` on, with the position every edge came from."""
    for u in range(lo, hi):
        for e in range(indptr[u], indptr[u + 1]):
            if neighbour[e] != u:
                clean[to] = neighbour[e]
                edge[to] = e
                to += 1
        clean_indptr[u + 1] = to


@kernel
def count_kept(mask, lo, hi):
    """Number of True in mask[lo:hi]."""
    found = 0
    for e in range(lo, hi):
        found += mask[e]
    return found


@kernel
def count_rows(indptr, mask, lo, hi, counts):
    """counts[row + 1] = number of True in the rows lo..hi of a CSR graph."""
    row, stop, found = lo, indptr[lo + 1], 0
    for e in range(indptr[lo], indptr[hi]):
        while e >= stop:
            counts[row + 1] = found
            found = 0
            row += 1
            stop = indptr[row + 1]
        found += mask[e]
    counts[row + 1] = found


@kernel
def compress_span(mask, lo, array, to, stop, out):
    """Copy array[lo:] where mask is True to out[to:stop]; every position is written until it holds the right value."""
    e = lo
    while to < stop:  # never past `stop`, where the next span's thread writes
        out[to] = array[e]
        to += mask[e]
        e += 1


@kernel
def scatter_taken(taken, edge, lo, hi, mask):
    """mask[edge[slot]] = taken[slot] > 0 for the slots lo..hi; edges are distinct, so no two threads meet."""
    for slot in range(lo, hi):
        mask[edge[slot]] = taken[slot] != 0
