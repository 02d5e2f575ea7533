"""How the word of a row is searched for: the nearest of all, or in lists if there are many words."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lsprune.graph import Array
from lsprune.hashing import k_means
from lsprune.hashing.word_lists import MAX_FLAT_WORDS, coarse_words, list_searcher, squared_distances, within
from lsprune.kernels import Runtime

_HASHED_ROWS = 1 << 8  # enough to tell most codebooks apart; what is equal is compared as a whole
Search = Callable[[Array, Array], None]  # (rows, out): fill `out` with the number of a word for each row


@dataclass(frozen=True)
class WordSearch:
    """A way to search: exactly, or among many words in lists, which finds nearly always the same.

    The lists depend on the words alone, so every executor and any number of threads find the same words.

    Args:
        max_flat_words: up to so many words are searched exactly in any case.
    """

    runtime: Runtime
    exact: bool = False
    max_flat_words: int = MAX_FLAT_WORDS

    def by_lists(self, words: Array) -> bool:
        """Return whether these words are searched in lists."""
        return not self.exact and words.shape[0] > self.max_flat_words

    def searcher(self, words: Array) -> Search:
        """Return a search among words; it is kept, for the next graph or batch has the same words."""
        if not self.by_lists(words):
            search: Search = self.runtime.module.searcher(words)
            return search
        return _kept_searcher(ByContent(words), self.runtime)

    def nearest(self, rows: Array, words: Array) -> Array:
        """Return the number of a word for each row, which is the nearest if the search is exact."""
        search = list_searcher(words, self.runtime) if self.by_lists(words) else self.runtime.module.searcher(words)
        return k_means.assign(rows, search, self.runtime)

    def coarse_words(self, words: Array) -> Array | None:
        """Return coarse words for `beyond`; None if these words are not searched in lists."""
        return coarse_words(words, self.runtime.module.MAX_LISTS, self.runtime) if self.by_lists(words) else None

    def beyond(self, rows: Array, words: Array, coarse: Array | None, threshold: int) -> Array:
        """Return the rows that are farther than the squared distance from all words, as far as the search finds them.

        Args:
            coarse: words for the lists; None: search exactly.
        """
        if not words.shape[0]:
            return rows
        if coarse is not None:
            return rows[~within(rows, words, coarse, threshold, self.runtime)]
        return rows[squared_distances(rows, words[k_means.nearest(rows, words, self.runtime)]) > threshold]


@dataclass(frozen=True, eq=False)
class ByContent:
    """An array that equals another with the same content."""

    array: Array

    def __hash__(self) -> int:
        return zlib.crc32(np.ascontiguousarray(self.array[:_HASHED_ROWS]).data)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByContent):
            return False
        return self.array is other.array or np.array_equal(self.array, other.array)


@lru_cache(maxsize=2)
def _kept_searcher(words: ByContent, runtime: Runtime) -> Search:
    return list_searcher(words.array, runtime)
