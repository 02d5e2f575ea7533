"""The nearest of many codebook words to each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lsprune.graph import Array

SEARCH_ROWS = 1 << 11  # rows to pass to one call of a search


def nearest_words(rows: Array, words: Array, out: Array) -> None:
    """Set out[i] to the word with the smallest squared distance from row i, the first of several."""
    listed = words.tolist()
    for i, row in enumerate(rows.tolist()):
        distance = [sum((a - b) ** 2 for a, b in zip(row, word, strict=True)) for word in listed]
        out[i] = distance.index(min(distance))


def searcher(words: Array) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` with the nearest word of each row."""
    return lambda rows, out: nearest_words(rows, words, out)


def leaders(rows: Array, distance: int, out: Array) -> None:
    """Set out[i] to whether row i is farther than `distance` (squared) from all leaders before it."""
    listed = rows.tolist()
    for i, row in enumerate(listed):
        before = [listed[j] for j in np.flatnonzero(out[:i])]
        out[i] = all(sum((a - b) ** 2 for a, b in zip(row, leader, strict=True)) > distance for leader in before)
