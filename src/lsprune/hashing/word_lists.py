"""Search among many words by lists: words near the same coarse word form a list, and few lists are searched.

A row and its word often lie in the lists of different coarse words, so a quarter of the lists may be searched, the
nearest first. Most rows need far fewer: the search ends at a word that is clearly nearer to the row than to the words
around it. Everything here follows from the words, in integers, so that nothing but the words has to be stored.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isqrt

import numpy as np

from lsprune.graph import Array
from lsprune.hashing.k_means import assign, k_means, nearest
from lsprune.kernels import Runtime

MAX_FLAT_WORDS = 1 << 14  # with more words, lists are faster than comparing a row with every word
SEARCHED_SHARE = 4  # one in so many lists is searched at most
NEAR_EIGHTHS = 5  # of the squared distance from a word to the nearest other: a row within it is near enough to the word
_COARSE_ROWS = 1 << 12  # that coarse words are learned from
_COARSE_ITERATIONS = 4
_COMPARED_WORDS = 1 << 9  # of a list that are compared with each other at most


@dataclass(frozen=True, eq=False)
class WordLists:
    """Words in lists; distances are squared."""

    coarse: Array  # [lists, width] int16
    words: Array  # [words, width] int16, list after list
    numbers: Array  # [words] the numbers of the words before they were listed
    start: Array  # [lists + 1] where each list begins; none is empty

    @classmethod
    def of(cls, words: Array, coarse: Array, runtime: Runtime) -> WordLists:
        """Put every word into the list of its nearest coarse word; coarse words without a list are left out."""
        labels = nearest(words, coarse, runtime)
        numbers, sizes = np.argsort(labels, kind="stable"), np.bincount(labels, minlength=coarse.shape[0])
        start = np.append(0, np.cumsum(sizes[sizes > 0]))
        return cls(coarse[sizes > 0], words[numbers], numbers.astype(np.int32), start)

    @property
    def max_lists(self) -> int:
        """How many lists are searched at most."""
        return max(int(self.coarse.shape[0]) // SEARCHED_SHARE, 1)

    def searcher(self, radius: Array, runtime: Runtime) -> Callable[[Array, Array], None]:
        """Return a function of (rows, out) that fills `out` with the number of a near word of each row.

        Args:
            radius: `[words]` a row that is no farther from a word needs no other.
        """
        search = runtime.module.list_searcher(self.coarse, self.words, self.start, radius, self.max_lists)

        def numbered(rows: Array, out: Array) -> None:
            search(rows, out)
            out[:] = self.numbers[out]

        return numbered

    def near(self, runtime: Runtime) -> Array:
        """Return for each word the distance within which a row is near enough: 5/8 of that to a word of its list."""
        cuts = [np.arange(lo, hi, _COMPARED_WORDS) for lo, hi in itertools.pairwise(self.start.tolist())]
        distances = np.zeros(self.words.shape[0], np.int64)
        runtime.module.nearest_others(self.words, np.append(np.concatenate(cuts), self.words.shape[0]), distances)
        return distances * NEAR_EIGHTHS // 8


def coarse_words(words: Array, lists: int, runtime: Runtime) -> Array:
    """Return so many coarse words: means of a sample of the words."""
    sample = words[:: max(words.shape[0] // _COARSE_ROWS, 1)]
    return k_means(sample, sample[:lists], _COARSE_ITERATIONS, partial(nearest, runtime=runtime))


def listed(words: Array, runtime: Runtime) -> WordLists:
    """Return words in lists: about as many lists as there are words in one, a power of two."""
    lists = min(1 << isqrt(words.shape[0]).bit_length(), runtime.module.MAX_LISTS)
    return WordLists.of(words, coarse_words(words, lists, runtime), runtime)


def list_searcher(words: Array, runtime: Runtime) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` with the number of a near word of each row."""
    lists = listed(words, runtime)
    return lists.searcher(lists.near(runtime), runtime)


def within(rows: Array, words: Array, coarse: Array, threshold: int, runtime: Runtime) -> Array:
    """Return for each row whether a word is no farther than the threshold, as far as the search by lists finds it."""
    lists = WordLists.of(words, coarse, runtime)
    search = lists.searcher(np.full(words.shape[0], threshold, np.int64), runtime)
    return squared_distances(rows, words[assign(rows, search, runtime)]) <= threshold


def squared_distances(rows: Array, others: Array) -> Array:
    """Return the squared distance between row i of both tables, for every i."""
    return np.asarray(((rows.astype(np.int32) - others) ** 2).sum(1))
