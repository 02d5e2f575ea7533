"""Words in lists: every word is in one, and a search finds nearly always the nearest."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.hashing import word_lists
from lsprune.hashing.k_means import assign, nearest
from lsprune.hashing.word_lists import WordLists, list_searcher, listed, squared_distances, within
from lsprune.kernels import runtime

RUN = runtime(2)


def clusters(count: int, dim: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Words, and ten rows around each of 300 of them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 40, (count, dim))
    rows = np.repeat(centres[:300], 10, axis=0) + rng.normal(0, 15, (3000, dim))
    return tuple(np.clip(np.round(table), -127, 127).astype(np.int16) for table in (centres, rows))


def test_every_word_is_in_the_list_of_its_nearest_coarse_word():
    words = clusters(2000)[0]
    lists = listed(words, RUN)
    assert lists.coarse.shape[0] == lists.start.size - 1 <= 64
    assert np.diff(lists.start).min() > 0
    np.testing.assert_array_equal(np.sort(lists.numbers), np.arange(2000))
    np.testing.assert_array_equal(lists.words, words[lists.numbers])
    member = np.repeat(np.arange(lists.coarse.shape[0]), np.diff(lists.start))
    np.testing.assert_array_equal(nearest(lists.words, lists.coarse, RUN), member)


def test_nearly_every_row_finds_its_nearest_word():
    words, rows = clusters(6000)
    found, expected = assign(rows, list_searcher(words, RUN), RUN), nearest(rows, words, RUN)
    assert (found == expected).mean() > 0.98
    one_list = assign(rows, list_searcher_of_one(words), RUN)
    assert (one_list == expected).mean() < 0.8  # a tree without a second try


def list_searcher_of_one(words: np.ndarray):
    lists = listed(words, RUN)
    return lists.searcher(np.full(words.shape[0], 2**40), RUN)


def test_executors_and_threads_find_the_same():
    words, rows = clusters(500)
    expected = assign(rows[::20], list_searcher(words, runtime(1, "reference")), runtime(1, "reference"))
    for run in (runtime(1), runtime(3)):
        np.testing.assert_array_equal(assign(rows[::20], list_searcher(words, run), run), expected)


@pytest.mark.parametrize("count", [1, 2, 17, 300])
def test_equal_words_and_few_words_have_lists_too(count):
    for words in (np.full((count, 3), 7, np.int16), np.arange(3 * count, dtype=np.int16).reshape(count, 3) % 100):
        found = assign(words, list_searcher(words, RUN), RUN)
        np.testing.assert_array_equal(squared_distances(words, words[found]), 0)  # a word is near itself


def test_near_enough_is_five_eighths_of_the_way_to_the_nearest_word_of_the_list(monkeypatch):
    words = np.array([[0], [4], [12], [100], [101]], np.int16)
    lists = WordLists.of(words, np.array([[5], [100]], np.int16), RUN)
    assert lists.near(RUN).tolist() == [10, 10, 40, 0, 0]
    monkeypatch.setattr(word_lists, "_COMPARED_WORDS", 2)
    assert lists.near(RUN).tolist() == [10, 10, 0, 0, 0]  # the third is alone


def test_rows_within_a_distance():
    words, rows = clusters(4000)
    coarse = word_lists.coarse_words(words, 64, RUN)
    exact = squared_distances(rows, words[nearest(rows, words, RUN)])
    for threshold in (2000, 4000, 6000):
        found = within(rows, words, coarse, threshold, RUN)
        assert not found[exact > threshold].any()
        assert found[exact <= threshold].mean() > 0.97
