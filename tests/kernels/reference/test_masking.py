from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_masks_are_applied_to_arrays_and_rows():
    mask, out, counts = np.array([True, False, True]), np.zeros(2, int), np.zeros(3, int)
    reference.compress(mask, (np.array([5, 6, 7]),), (out,), 1)
    reference.count_rows(np.array([0, 2, 3]), mask.view(np.uint8), 0, 2, counts)
    assert (out.tolist(), counts.tolist()) == ([5, 7], [0, 1, 1])


def test_taken_slots_mark_their_edges():
    mask = np.zeros(4, bool)
    reference.scatter_taken(np.array([2, 0, 1]), np.array([3, 1, 0]), 0, 3, mask)
    assert mask.tolist() == [True, False, False, True]
