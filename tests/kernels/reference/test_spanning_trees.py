from __future__ import annotations

import numpy as np

from lsprune.kernels import reference

TRIANGLE = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]), np.array([0, 1, 0, 2, 1, 2])  # indptr, neighbour, pair


def test_every_pair_of_a_triangle_is_in_two_of_three_trees():
    counts = np.zeros(3, np.int64)
    root, starts = np.array([1, 0, 0], np.uint8), np.arange(600, dtype=np.uint64)
    assert reference.count_spanning_trees(*TRIANGLE, np.arange(3), root, starts, 1000, counts)
    assert counts.sum() == 2 * 600
    np.testing.assert_allclose(counts / 600, 2 / 3, atol=0.06)


def test_the_2_core_is_what_is_left_without_hanging_trees():
    # A triangle 0, 1, 2 with the path 2 - 3 - 4.
    rows = [[1, 2], [0, 2], [0, 1, 3], [2, 4], [3]]
    left = np.array([len(row) for row in rows])
    reference.two_core(np.cumsum([0, *left]), np.array([v for row in rows for v in row]), left)
    assert left.tolist() == [2, 2, 2, 0, 0]
