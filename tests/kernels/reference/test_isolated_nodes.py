from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_a_node_is_isolated_when_its_last_edge_goes():
    before, after = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
    mask = np.array([1, 0, 1], np.uint8)
    reference.mark_ends(np.array([0, 1, 3]), np.array([1, 2, 3]), mask, 0, 3, before, after)
    assert (before.tolist(), after.tolist()) == ([1, 1, 1, 0], [1, 1, 0, 0])  # the self-loop of 3 counts for nothing
