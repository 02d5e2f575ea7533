from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_edges_keep_their_order_within_an_owner():
    owner, neighbour = np.array([2, 0, 2, 1, 2]), np.array([5, 0, 2, 4, 5])
    indptr, other, edge = reference.group(owner, neighbour, 3, 6, False, 1)
    assert (indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 1, 2, 5], [0, 4, 5, 2, 5], [1, 3, 0, 2, 4])
    indptr, other, edge = reference.group(owner, neighbour, 3, 6, True, 1)
    assert (indptr.tolist(), other.tolist(), edge.tolist()) == ([0, 0, 1, 3], [4, 5, 5], [3, 0, 4])
