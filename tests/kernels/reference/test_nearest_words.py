from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_the_first_of_equally_near_words_is_found():
    rows, words = np.array([[0, 0], [9, 1]], np.int16), np.array([[8, 8], [1, 0], [0, 1], [9, 9]], np.int16)
    out = np.zeros(2, np.int32)
    reference.searcher(words)(rows, out)
    assert out.tolist() == [1, 0]


def test_leaders_are_far_from_all_leaders_before_them():
    out = np.zeros(5, bool)
    reference.leaders(np.array([[0], [2], [3], [5], [8]], np.int16), 8, out)
    assert out.tolist() == [True, False, True, False, True]
