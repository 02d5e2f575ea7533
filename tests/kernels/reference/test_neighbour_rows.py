from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_rows_of_an_owner_and_its_neighbours_are_added_up():
    rows, sums = np.array([[1, 2], [10, 20], [100, 200]]), np.zeros((2, 2), int)
    reference.sum_rows(np.array([0, 0, 2, 3]), np.array([0, 2, 2]), rows, 1, 3, sums)
    assert sums.tolist() == [[111, 222], [200, 400]]


def test_something_is_added_to_the_keys_of_neighbours():
    out = np.zeros((2, 2), np.int64)
    table = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    reference.add_to_keys(table, np.array([1, 0]), np.array([2**40, -1]), out)
    assert out.tolist() == [[4 + 2**40, 5 + 2**40], [0, 1]]
