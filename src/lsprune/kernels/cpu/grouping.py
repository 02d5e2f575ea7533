"""Edges grouped by owner: a stable counting sort, in two levels for many owners so that random writes stay in cache.

Level 1 deals the edges into buckets of consecutive owners; level 2 counts inside a bucket, whose edges fit the cache.
Edges of one owner keep the caller's order. No race: prefix sums give every (bucket, chunk) and every bucket its
own region to write before a thread starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import threads as pool
from lsprune.kernels.cpu.jit import kernel

BUCKET_BITS = 12  # of the owners in a bucket
MAX_ONE_LEVEL_COUNTERS = 1 << 19  # of all chunks together: 2 MB
LOOP_ROWS = 1 << 12  # rows a thread takes at a time when it looks for self-loops


def group(
    owner: Array, neighbour: Array, owners: int, neighbours: int, skip: bool, threads: int
) -> tuple[Array, Array, Array]:
    """Return (indptr, neighbour, edge): each owner's edges in the caller's order, without self-loops if `skip`."""
    edges = owner.shape[0]
    chunks = pool.spans(edges, max(1, -(-edges // threads)))
    kind = np.int32 if edges < 2**31 and neighbours < 2**31 else np.int64
    sort = _group_at_once if owners * max(len(chunks), 1) <= MAX_ONE_LEVEL_COUNTERS else _group_by_buckets
    return sort(owner, neighbour, owners, skip, threads, chunks, kind)


def _group_at_once(
    owner: Array, neighbour: Array, owners: int, skip: bool, threads: int, chunks: list[tuple[int, int]], kind: Any
) -> tuple[Array, Array, Array]:
    starts, total = _starts(count_owners, owner, neighbour, skip, threads, chunks, owners)
    indptr = np.append(starts[0], total).astype(np.int64)
    sorted_neighbour, sorted_edge = np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            pool.job(place_chunk, owner, neighbour, lo, hi, skip, starts[i], sorted_neighbour, sorted_edge)
            for i, (lo, hi) in enumerate(chunks)
        ),
        threads,
    )
    return indptr, sorted_neighbour, sorted_edge


def _group_by_buckets(
    owner: Array, neighbour: Array, owners: int, skip: bool, threads: int, chunks: list[tuple[int, int]], kind: Any
) -> tuple[Array, Array, Array]:
    buckets = ((owners - 1) >> BUCKET_BITS) + 1
    starts, total = _starts(count_chunk, owner, neighbour, skip, threads, chunks, buckets)
    borders = np.append(starts[0], total).astype(np.int64)
    low, other, place = np.empty(total, np.uint16), np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            pool.job(deal_chunk, owner, neighbour, lo, hi, 0, skip, starts[i], low, other, place)
            for i, (lo, hi) in enumerate(chunks)
        ),
        threads,
    )
    indptr = np.zeros(owners + 1, np.int64)
    sorted_neighbour, sorted_edge = np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            pool.job(sort_bucket, b << BUCKET_BITS, borders[b], borders[b + 1], low, other, place, indptr,
                 sorted_neighbour, sorted_edge)
            for b in range(buckets)
        ),
        threads,
    )  # fmt: skip
    return indptr, sorted_neighbour, sorted_edge


def _starts(
    count: Any, owner: Array, neighbour: Array, skip: bool, threads: int, chunks: list[tuple[int, int]], places: int
) -> tuple[Array, int]:
    """Return where each chunk writes its first edge of each place, `[chunks + 1, places]`, and the number of edges."""
    kind = np.int32 if owner.shape[0] < 2**31 else np.int64  # the smaller, the more of them stay in cache
    counts = np.zeros((len(chunks), places), kind)
    pool.run((pool.job(count, owner, neighbour, lo, hi, skip, counts[i]) for i, (lo, hi) in enumerate(chunks)), threads)
    starts = np.zeros((len(chunks) + 1, places + 1), kind)
    np.cumsum(counts.sum(axis=0), out=starts[0, 1:])
    total, starts = int(starts[0, -1]), starts[:, :-1]
    for i in range(len(chunks)):
        np.add(starts[i], counts[i], out=starts[i + 1])
    return np.ascontiguousarray(starts), total


def without_loops(indptr: Array, neighbour: Array, threads: int) -> tuple[Array, Array, Array | None]:
    """Return a CSR graph without self-loops, and the old position of each edge (None if there are no self-loops)."""
    rows = indptr.shape[0] - 1
    spans = pool.spans(rows, LOOP_ROWS)
    loops = np.zeros(len(spans), np.int64)

    def count(i: int, lo: int, hi: int) -> None:
        loops[i] = count_loops(indptr, neighbour, lo, hi)

    pool.run((pool.job(count, i, lo, hi) for i, (lo, hi) in enumerate(spans)), threads)
    total = int(loops.sum())
    if total == 0:
        return indptr, neighbour, None
    left = neighbour.shape[0] - total
    kind = np.int32 if neighbour.shape[0] < 2**31 else np.int64
    clean, edge, clean_indptr = np.empty(left, neighbour.dtype), np.empty(left, kind), np.zeros(rows + 1, np.int64)
    before = np.cumsum(loops) - loops
    pool.run(
        (
            pool.job(drop_loops, indptr, neighbour, lo, hi, indptr[lo] - before[i], clean_indptr, clean, edge)
            for i, (lo, hi) in enumerate(spans)
        ),
        threads,
    )
    return clean_indptr, clean, edge


@kernel
def count_chunk(owner, neighbour, lo, hi, skip, counts):
    """Add to counts[bucket] the number of edges lo..hi in each bucket, without self-loops if `skip`."""
    for e in range(lo, hi):
        if not skip or owner[e] != neighbour[e]:
            counts[owner[e] >> BUCKET_BITS] += 1


@kernel
def deal_chunk(owner, neighbour, lo, hi, first, skip, starts, low, other, place):
    """Write the edges lo..hi to their buckets: low owner bits, neighbour, and position counted from `first`."""
    mask = (1 << BUCKET_BITS) - 1
    for e in range(lo, hi):
        u = owner[e]
        v = neighbour[e]
        if not skip or u != v:
            at = starts[u >> BUCKET_BITS]
            starts[u >> BUCKET_BITS] = at + 1
            low[at] = u & mask
            other[at] = v
            place[at] = first + e


@kernel
def sort_bucket(first, lo, hi, low, other, place, indptr, neighbour, edge):
    """Sort one bucket by owner into the final arrays and fill its part of `indptr`."""
    owners = min(1 << BUCKET_BITS, indptr.shape[0] - 1 - first)
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
    """Add to counts[owner] the number of edges lo..hi of each owner, without self-loops if `skip`."""
    for e in range(lo, hi):
        if not skip or owner[e] != neighbour[e]:
            counts[owner[e]] += 1


@kernel
def place_chunk(owner, neighbour, lo, hi, skip, starts, sorted_neighbour, sorted_edge):
    """Write the edges lo..hi straight to the slots of their owners, for owners whose counters fit the cache."""
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
    """Return the number of self-loops in the rows lo..hi of a CSR graph."""
    loops = 0
    u, stop = lo, indptr[lo + 1]
    for e in range(indptr[lo], indptr[hi]):  # one flat loop: rows are short
        while e >= stop:
            u += 1
            stop = indptr[u + 1]
        loops += neighbour[e] == u
    return loops


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
