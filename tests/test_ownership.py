from __future__ import annotations

import numpy as np
import pytest

from lsprune.ownership import SIDES, Owned, oriented, other_side


@pytest.mark.parametrize("side", SIDES)
def test_orientation_is_its_own_inverse_and_turns_round_on_the_other_side(side):
    assert oriented(side, *oriented(side, "source", "target")) == ("source", "target")
    assert oriented(other_side(side), 1, 2) == oriented(side, 1, 2)[::-1]
    assert oriented("in", "source", "target")[0] == "target"


def test_slots_know_their_edges_owners_and_neighbours():
    owned = Owned(np.array([0, 2, 2, 3]), np.array([1, 2, 1]), np.array([5, 0, 3]))
    assert owned.edges(1, 3).tolist() == [0, 3]
    assert owned.owners(0, 3).tolist() == [0, 0, 2]
    assert list(owned.blocks(2)) == [(0, 1), (1, 3)]
    assert owned.count_neighbours(np.zeros(3, int)).tolist() == [0, 2, 1]


def test_degrees_of_the_whole_graph_are_used_where_a_part_knows_them():
    owned = Owned(np.array([0, 1]), np.array([1]), None, degree=np.array([3, 5]))
    assert owned.count_neighbours(np.ones(2, int)).tolist() == [4, 6]
    assert owned.edges(0, 1).tolist() == [0]
