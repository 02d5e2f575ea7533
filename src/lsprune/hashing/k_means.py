"""k-means in integers: the nearest word of each row, and rounded means of the rows that share a word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import Runtime

MAX_INT32_ROWS = 1 << 24  # rows in [-128, 127] whose sums fit int32
Nearest = Callable[[Array, Array], Array]  # (rows, words) -> the number of a word for each row


def nearest(rows: Array, words: Array, runtime: Runtime) -> Array:
    """Return the number of the nearest word of each row, the smallest number if several are equally near."""
    return assign(rows, runtime.module.searcher(words), runtime)


def assign(rows: Array, search: Callable[[Array, Array], None], runtime: Runtime) -> Array:
    """Return what search(rows, out) finds for each row, on all threads."""
    out = np.empty(rows.shape[0], np.int32)
    size = min(runtime.module.SEARCH_ROWS, max(-(-rows.shape[0] // runtime.threads), 1 << 10))
    runtime.spread(rows.shape[0], lambda lo, hi: search(rows[lo:hi], out[lo:hi]), size)
    return out


def k_means(rows: Array, words: Array, iterations: int, nearest_of: Nearest) -> Array:
    """Return the words after at most so many iterations of k-means, fewer if nothing changes any more."""
    for _ in range(iterations):
        before = words
        words, _ = cluster_means(rows, words, nearest_of(rows, words))
        if np.array_equal(words, before):
            break
    return words


def cluster_means(rows: Array, words: Array, labels: Array) -> tuple[Array, Array]:
    """Return the rounded mean of the rows with each label, and their number; a word without rows stays."""
    from scipy.sparse import csc_array  # here, because a report should not wait for scipy

    count = rows.shape[0]
    sizes = np.bincount(labels, minlength=words.shape[0])
    used, words = np.flatnonzero(sizes), words.copy()
    dtype = np.int32 if count <= MAX_INT32_ROWS else np.int64
    of_label = csc_array((np.ones(count, dtype), labels, np.arange(count + 1)), shape=(words.shape[0], count))
    sums = (of_label @ rows.astype(dtype))[used].astype(np.int64)  # needs no sorting, and so a sixth of the time
    words[used] = (2 * sums + sizes[used, None]) // (2 * sizes[used, None])
    return words, sizes
