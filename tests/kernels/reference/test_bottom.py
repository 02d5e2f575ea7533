from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_the_smallest_keys_are_taken_in_order_and_earlier_ones_skipped():
    keys, taken, ranks = np.array([[4], [1], [3], [1]]), np.array([0, 0, 1, 0], np.uint8), np.array([0, 0, 1, 0])
    indptr, neighbour, quota = np.array([0, 4]), np.array([9, 8, 7, 6]), np.array([3])
    reference.choose_bottom(0, 1, indptr, neighbour, keys, 1, quota, np.empty(0), 1, 0, True, taken, ranks)
    assert taken.tolist() == [0, 1, 1, 1]
    assert ranks.tolist() == [0, 3, 1, 2]  # keys 1 and 1: by id, neighbour 6 before 8
