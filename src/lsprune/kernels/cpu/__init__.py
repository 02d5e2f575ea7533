"""The numba executor: the functions of `kernels.reference`, compiled, on blocks that threads can share out."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import threads as pool
from lsprune.kernels.cpu import (
    choose,
    edges,
    md5,
    quantise,
    scores,
)
from lsprune.kernels.cpu import group as grouping
from lsprune.kernels.cpu import (
    nearest_words as words,
)
from lsprune.kernels.cpu import (
    reachability as bits,
)
from lsprune.kernels.cpu import (
    spanning_trees as trees,
)

choose_nodes = choose.choose_nodes
choose_steps = choose.choose_steps
choose_again = choose.choose_again
choose_bottom = choose.choose_bottom
hash_ends = edges.hash_ends
balance = edges.balance
touch = edges.touch
any_in_rows = edges.any_in_rows
touch_neighbours = edges.touch_neighbours
scatter_taken = grouping.scatter_taken
count_rows = grouping.count_rows
spread_bits = bits.spread_bits
count_bits = bits.count_bits
md5_keys = md5.md5_keys
SEARCH_ROWS = words.SEARCH_ROWS
searcher = words.searcher
leaders = words.leaders
log2_fixed = scores.log2_fixed
min_rows = scores.min_rows
count_equal = scores.count_equal
count_common = scores.count_common
sum_rows = scores.sum_rows
weigh = scores.weigh
dot_dense = scores.dot_dense
dot_sparse = scores.dot_sparse
spanning_trees = trees.spanning_trees
peel = trees.peel

NARROW = 24  # columns up to which sums are quickest with all functions side by side
SPAN = 1 << 17  # edges a thread takes at a time
ONE_LEVEL = 1 << 19  # counters of all chunks together that a one-level sort may have: 2 MB


def unit_sums(x: Array, sums: Array) -> int:
    return int(quantise.unit_sums(x, x.view(np.int32), sums))


def unit_spread(x: Array, centre: Array, histogram: Array, squares: Array) -> None:
    quantise.unit_spread(x, x.view(np.int32), centre, histogram, squares)


def raw_top(x: Array) -> int:
    return int(quantise.raw_top(x, x.view(np.int32)))


def quanta(x: Array, unit: bool, exponent: int, centre: Array, out: Array) -> int:
    return int(quantise.quanta(x, x.view(np.int32), unit, exponent, centre, out))


def project(x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array) -> int:
    pattern = x.view(np.int32)
    if out.dtype == np.int32:
        return int(quantise.project_unit(x, pattern, exponent, centre, _padded(weights, out.shape[1]), out))
    return int(quantise.project_wide(x, pattern, unit, exponent, centre, weights, out))


def project_quanta(q: Array, weights: Array, out: Array) -> None:
    if q.shape[1] > NARROW:
        quantise.project_quanta(q, _padded(weights, out.shape[1]), out)
        return
    columns = np.zeros((q.shape[1], out.shape[1]), np.int32)
    columns[:, : weights.shape[0]] = weights.T
    quantise.project_narrow(q, columns, out)


def _padded(weights: Array, functions: int) -> Array:
    """Weights with zeros up to so many functions and a multiple of 32 columns, as vector instructions read them."""
    padded = np.zeros((functions, -(-weights.shape[1] // 32) * 32), np.int16)
    padded[: weights.shape[0], : weights.shape[1]] = weights
    return padded


def unit_values(indptr: Array, x: Array, out: Array) -> int:
    return int(scores.unit_values(indptr, x, x.view(np.int32), out))


def sparse_sums(indptr: Array, indices: Array, x: Array, sums: Array) -> int:
    return int(quantise.sparse_sums(indptr, indices, x, x.view(np.int32), sums))


def project_sparse(
    indptr: Array, indices: Array, x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array
) -> int:
    pattern = x.view(np.int32)
    return int(quantise.project_sparse(indptr, indices, x, pattern, unit, exponent, centre, weights, out))


def signature(
    x: Array, unit: bool, exponent: int, centre: Array, entry: Array, threshold: Array, code: Array, out: Array
) -> int:
    return int(quantise.signature(x, x.view(np.int32), unit, exponent, centre, entry, threshold, code, out))


def group(
    owner: Array, neighbour: Array, owners: int, neighbours: int, skip: bool, threads: int
) -> tuple[Array, Array, Array]:
    edges_in = owner.shape[0]
    chunks = pool.spans(edges_in, max(1, -(-edges_in // threads)))
    kind = np.int32 if edges_in < 2**31 and neighbours < 2**31 else np.int64
    sort = _group_at_once if owners * max(len(chunks), 1) <= ONE_LEVEL else _group_by_buckets
    return sort(owner, neighbour, owners, skip, threads, chunks, kind)


def _group_at_once(
    owner: Array, neighbour: Array, owners: int, skip: bool, threads: int, chunks: list[tuple[int, int]], kind: Any
) -> tuple[Array, Array, Array]:
    starts, total = _starts(grouping.count_owners, owner, neighbour, skip, threads, chunks, owners)
    indptr = np.append(starts[0], total).astype(np.int64)
    sorted_neighbour, sorted_edge = np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            _job(grouping.place_chunk, owner, neighbour, lo, hi, skip, starts[i], sorted_neighbour, sorted_edge)
            for i, (lo, hi) in enumerate(chunks)
        ),
        threads,
    )
    return indptr, sorted_neighbour, sorted_edge


def _starts(
    count: Any, owner: Array, neighbour: Array, skip: bool, threads: int, chunks: list[tuple[int, int]], places: int
) -> tuple[Array, int]:
    """Where each chunk writes its first edge of each place, `[chunks + 1, places]`, and the total."""
    kind = np.int32 if owner.shape[0] < 2**31 else np.int64  # the smaller, the more of them stay in cache
    counts = np.zeros((len(chunks), places), kind)
    pool.run((_job(count, owner, neighbour, lo, hi, skip, counts[i]) for i, (lo, hi) in enumerate(chunks)), threads)
    starts = np.zeros((len(chunks) + 1, places + 1), kind)
    np.cumsum(counts.sum(axis=0), out=starts[0, 1:])
    total, starts = int(starts[0, -1]), starts[:, :-1]
    for i in range(len(chunks)):
        np.add(starts[i], counts[i], out=starts[i + 1])
    return np.ascontiguousarray(starts), total


def _group_by_buckets(
    owner: Array, neighbour: Array, owners: int, skip: bool, threads: int, chunks: list[tuple[int, int]], kind: Any
) -> tuple[Array, Array, Array]:
    buckets = ((owners - 1) >> grouping.BITS) + 1
    starts, total = _starts(grouping.count_chunk, owner, neighbour, skip, threads, chunks, buckets)
    borders = np.append(starts[0], total).astype(np.int64)
    low, other, place = np.empty(total, np.uint16), np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            _job(grouping.deal_chunk, owner, neighbour, lo, hi, 0, skip, starts[i], low, other, place)
            for i, (lo, hi) in enumerate(chunks)
        ),
        threads,
    )
    indptr = np.zeros(owners + 1, np.int64)
    sorted_neighbour, sorted_edge = np.empty(total, kind), np.empty(total, kind)
    pool.run(
        (
            _job(grouping.sort_bucket, b << grouping.BITS, borders[b], borders[b + 1], low, other, place, indptr,
                 sorted_neighbour, sorted_edge)
            for b in range(buckets)
        ),
        threads,
    )  # fmt: skip
    return indptr, sorted_neighbour, sorted_edge


def without_loops(indptr: Array, neighbour: Array, threads: int) -> tuple[Array, Array, Array | None]:
    rows = indptr.shape[0] - 1
    spans = pool.spans(rows, SPAN // 32)
    found = np.zeros(len(spans), np.int64)

    def count(i: int, lo: int, hi: int) -> None:
        found[i] = grouping.count_loops(indptr, neighbour, lo, hi)

    pool.run((_job(count, i, lo, hi) for i, (lo, hi) in enumerate(spans)), threads)
    loops = int(found.sum())
    if loops == 0:
        return indptr, neighbour, None
    left = neighbour.shape[0] - loops
    kind = np.int32 if neighbour.shape[0] < 2**31 else np.int64
    clean, edge, clean_indptr = np.empty(left, neighbour.dtype), np.empty(left, kind), np.zeros(rows + 1, np.int64)
    before = np.cumsum(found) - found
    pool.run(
        (
            _job(grouping.drop_loops, indptr, neighbour, lo, hi, indptr[lo] - before[i], clean_indptr, clean, edge)
            for i, (lo, hi) in enumerate(spans)
        ),
        threads,
    )
    return clean_indptr, clean, edge


def compress(mask: Array, arrays: tuple[Array, ...], out: tuple[Array, ...], threads: int) -> None:
    bytes_ = mask.view(np.uint8)
    spans = pool.spans(mask.shape[0], SPAN)
    kept = np.zeros(len(spans) + 1, np.int64)

    def count(i: int, lo: int, hi: int) -> None:
        kept[i + 1] = grouping.count_kept(bytes_, lo, hi)

    pool.run((_job(count, i, lo, hi) for i, (lo, hi) in enumerate(spans)), threads)
    at = np.cumsum(kept)
    pool.run(
        (
            _job(grouping.compress_span, bytes_, lo, array, at[i], at[i + 1], to)
            for array, to in zip(arrays, out, strict=True)
            for i, (lo, _) in enumerate(spans)
        ),
        threads,
    )


def _job(function: Any, *args: Any) -> pool.Job:
    return lambda: function(*args)
