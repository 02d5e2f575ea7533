"""Applying a mask to the arrays of a graph."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import threads as pool
from lsprune.kernels.cpu.jit import kernel

COMPRESS_EDGES = 1 << 17  # edges a thread takes at a time


def compress(mask: Array, arrays: tuple[Array, ...], out: tuple[Array, ...], threads: int) -> None:
    """Fill each of `out` with array[mask]."""
    bytes_ = mask.view(np.uint8)
    spans = pool.spans(mask.shape[0], COMPRESS_EDGES)
    kept = np.zeros(len(spans) + 1, np.int64)

    def count(i: int, lo: int, hi: int) -> None:
        kept[i + 1] = count_kept(bytes_, lo, hi)

    pool.run((pool.job(count, i, lo, hi) for i, (lo, hi) in enumerate(spans)), threads)
    at = np.cumsum(kept)
    pool.run(
        (
            pool.job(compress_span, bytes_, lo, array, at[i], at[i + 1], to)
            for array, to in zip(arrays, out, strict=True)
            for i, (lo, _) in enumerate(spans)
        ),
        threads,
    )


@kernel
def count_kept(mask, lo, hi):
    """Return the number of True in mask[lo:hi]."""
    kept = 0
    for e in range(lo, hi):
        kept += mask[e]
    return kept


@kernel
def compress_span(mask, lo, array, to, stop, out):
    """Copy array[lo:] where mask is True to out[to:stop]; every position is written until it holds the right value."""
    e = lo
    while to < stop:  # never past `stop`, where the next span's thread writes
        out[to] = array[e]
        to += mask[e]
        e += 1


@kernel
def count_rows(indptr, mask, lo, hi, counts):
    """Set counts[row + 1] to the number of True in each of the rows lo..hi of a CSR graph."""
    row, stop, kept = lo, indptr[lo + 1], 0
    for e in range(indptr[lo], indptr[hi]):
        while e >= stop:
            counts[row + 1] = kept
            kept = 0
            row += 1
            stop = indptr[row + 1]
        kept += mask[e]
    counts[row + 1] = kept


@kernel
def scatter_taken(taken, edge, lo, hi, mask):
    """Set mask[edge[slot]] to whether the slot is taken, for the slots lo..hi. No race: edges are distinct."""
    for slot in range(lo, hi):
        mask[edge[slot]] = taken[slot] != 0
