from __future__ import annotations

import numpy as np

from lsprune.kernels import reference

COARSE = np.array([[0], [20], [40]], np.int16)
WORDS = np.array([[0], [9], [12], [26], [31], [49]], np.int16)  # two in each list
START = np.array([0, 2, 4, 6])


def found(row: int, radius: int, max_lists: int) -> int:
    out = np.full(1, -1, np.int32)
    search = reference.list_searcher(COARSE, WORDS, START, np.full(6, radius), max_lists)
    search(np.array([[row]], np.int16), out)
    return int(WORDS[out[0], 0])


def test_lists_are_searched_in_order_until_a_word_is_near_enough():
    assert found(11, 0, 1) == 12  # the nearest word of the nearest list
    assert found(29, 0, 1) == 26  # 31 is in another list
    assert found(29, 8, 3) == 31  # 26 is not near enough
    assert found(29, 9, 3) == 26
    assert found(29, 0, 2) == 31


def test_the_first_of_equal_lists_and_words_wins():
    assert found(10, 10**6, 3) == 9  # as far from 0 as from 20
    assert found(30, 1, 3) == 31
    out = np.zeros(1, np.int32)
    words = np.array([[5], [3], [5]], np.int16)
    reference.list_searcher(COARSE[:1], words, np.array([0, 3]), np.zeros(3), 1)(np.array([[4]], np.int16), out)
    assert out[0] == 0


def test_distances_to_the_nearest_other_word_of_a_list():
    out = np.zeros(6, np.int64)
    reference.nearest_others(WORDS, np.array([0, 3, 4, 6]), out)
    assert out.tolist() == [81, 9, 9, 0, 324, 324]
