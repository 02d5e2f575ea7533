"""The nearest of many codebook words to each row, by exact integer dot products; eight rows share a load of a word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.word_products import LANES, ROW_COUNT, best_words, packed, packed_rows

SEARCH_ROWS = 1 << 11  # rows to pass to one call of a search


@kernel
def nearest_words(rows, words, bias, lo, hi, out):
    """Set out[i] to the word nearest to row i, for lo <= i < hi; the first of those that are equally near."""
    blocks, quads = words.shape[0], words.shape[1]
    lane_best = np.empty((ROW_COUNT, 2, LANES), np.int32)
    last = np.empty((ROW_COUNT, quads), np.int32)
    for first in range(lo, hi, ROW_COUNT):
        count = min(ROW_COUNT, hi - first)
        if count == ROW_COUNT:
            best_words(rows, first, quads, words, bias, blocks, lane_best)
        else:
            for i in range(ROW_COUNT):
                last[i] = rows[min(first + i, hi - 1)]
            best_words(last, 0, quads, words, bias, blocks, lane_best)
        for i in range(count):
            best, word = lane_best[i, 0, 0], lane_best[i, 1, 0] * LANES
            for lane in range(1, LANES):
                score, number = lane_best[i, 0, lane], lane_best[i, 1, lane] * LANES + lane
                if score > best or (score == best and number < word):
                    best, word = score, number
            out[first + i] = word


def searcher(words: Array) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` with the nearest word of each row, the first of several."""
    stored, bias = packed(words)

    def search(rows: Array, out: Array) -> None:
        nearest_words(packed_rows(rows), stored, bias, 0, rows.shape[0], out)

    return search


@kernel
def leaders(rows, distance, out):
    """Set out[i] to whether row i is farther than `distance` (squared) from all leaders before it."""
    count, dim = rows.shape
    leading, kept = np.empty((count, dim), np.int16), 0
    for i in range(count):
        out[i] = True
        for j in range(kept):
            total = 0
            for c in range(dim):
                off = np.int32(rows[i, c]) - np.int32(leading[j, c])
                total += off * off
            if total <= distance:
                out[i] = False
                break
        if out[i]:
            leading[kept] = rows[i]
            kept += 1
