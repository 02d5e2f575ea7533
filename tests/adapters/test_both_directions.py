"""Undirected edges in both directions."""

from __future__ import annotations

import numpy as np

from lsprune.adapters.both_directions import both_directions, mean_factors

ENDS = np.array([[0, 1, 2], [1, 1, 0]])  # with a self-loop


def test_each_edge_but_self_loops_has_its_reverse():
    ends, weight, nothing = both_directions(ENDS, np.array([5.0, 6.0, 7.0]), None)
    assert ends.tolist() == [[0, 1, 2, 1, 0], [1, 1, 0, 0, 2]]
    assert weight.tolist() == [5, 6, 7, 5, 7] and nothing is None


def test_factors_are_the_mean_of_both_directions():
    assert mean_factors(np.equal(*ENDS), np.array([2.0, 3.0, 4.0, 6.0, 8.0])).tolist() == [4, 3, 6]
