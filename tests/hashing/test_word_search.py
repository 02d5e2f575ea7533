"""Few words are searched exactly, many in lists, unless an exact search is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.hashing import k_means, word_search
from lsprune.hashing.word_lists import MAX_FLAT_WORDS, squared_distances
from lsprune.hashing.word_search import WordSearch
from lsprune.kernels import runtime

RUN = runtime(1)


def table(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-127, 128, (count, 6)).astype(np.int16)


@pytest.mark.parametrize("exact", [False, True])
def test_lists_are_for_many_words(exact):
    search = WordSearch(RUN, exact)
    assert not search.by_lists(table(MAX_FLAT_WORDS))
    assert search.by_lists(table(MAX_FLAT_WORDS + 1)) != exact
    rows, words = table(500, 1), table(MAX_FLAT_WORDS + 1)
    same = search.nearest(rows, words) == k_means.nearest(rows, words, RUN)
    assert same.all() == exact and same.mean() > 0.5
    np.testing.assert_array_equal(search.nearest(rows, words[:-1]), k_means.nearest(rows, words[:-1], RUN))


def test_a_searcher_is_kept_for_words_of_the_same_content(monkeypatch):
    made, words, rows = [], table(MAX_FLAT_WORDS + 1), table(50, 1)
    make = word_search.list_searcher
    monkeypatch.setattr(word_search, "list_searcher", lambda *args: made.append(1) or make(*args))
    word_search._kept_searcher.cache_clear()
    search = WordSearch(RUN)
    out, other = np.zeros(50, np.int32), np.zeros(50, np.int32)
    search.searcher(words)(rows, out)
    search.searcher(words.copy())(rows, other)
    assert len(made) == 1
    np.testing.assert_array_equal(out, other)
    np.testing.assert_array_equal(out, search.nearest(rows, words))
    words[0] += 1
    search.searcher(words)
    assert len(made) == 3  # `nearest` keeps none


def test_rows_beyond_all_words():
    search, rows, words = WordSearch(RUN), table(300, 2), table(2 * MAX_FLAT_WORDS)
    assert search.coarse_words(words[:100]) is None
    assert WordSearch(RUN, exact=True).coarse_words(words) is None
    away = squared_distances(rows, words[k_means.nearest(rows, words, RUN)])
    threshold = int(np.median(away))
    np.testing.assert_array_equal(search.beyond(rows, words, None, threshold), rows[away > threshold])
    found = search.beyond(rows, words, search.coarse_words(words), threshold)
    far = {row.tobytes() for row in rows[away > threshold]}
    assert far <= {row.tobytes() for row in found} and found.shape[0] < 300
    assert search.beyond(rows, words[:0], None, threshold) is rows
