from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_bits_move_along_the_edges_until_none_is_new():
    indptr, neighbour = np.array([0, 1, 2, 2]), np.array([1, 2])  # 0 -> 1 -> 2
    here, there = np.array([[1], [2], [4]], np.uint64), np.zeros((3, 1), np.uint64)
    for sets, new in (([3, 6, 4], 1), ([7, 6, 4], 1), ([7, 6, 4], 0)):
        changed = np.zeros(1, np.uint8)
        reference.spread_bits(indptr, neighbour, here, there, changed, 0, 3)
        assert (there.ravel().tolist(), changed.tolist()) == (sets, [new])
        here, there = there, here
    sizes = np.zeros(3, np.int64)
    reference.count_bits(here, 0, 3, sizes)
    assert sizes.tolist() == [3, 2, 1]
