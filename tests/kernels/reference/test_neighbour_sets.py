from __future__ import annotations

import numpy as np

from lsprune.kernels import reference

INDPTR, NEIGHBOUR = np.array([0, 2, 3, 3]), np.array([1, 2, 0])


def test_minima_are_over_the_neighbours():
    out = np.full((3, 2), 9)
    reference.min_rows(INDPTR, NEIGHBOUR, np.array([[5, 1], [3, 8], [4, 2]]), 0, 3, out)
    assert out.tolist() == [[3, 2], [5, 1], [9, 9]]


def test_equal_entries_and_common_members_are_counted():
    counts = np.zeros(3, int)
    reference.count_equal(INDPTR, NEIGHBOUR, np.array([[5, 1], [5, 8], [5, 1]]), 0, 3, counts)
    assert counts.tolist() == [1, 2, 1]
    reference.count_common(INDPTR, NEIGHBOUR, np.array([0, 3, 5, 5]), np.array([1, 2, 7, 2, 7]), 0, 3, counts)
    assert counts.tolist() == [2, 0, 2]
