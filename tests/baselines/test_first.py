"""The first edges of each owner in the caller's order."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import owners_of, random_graph
from lsprune import First, Graph


def test_first_takes_the_callers_order():
    graph = Graph.from_edges(np.array([[5, 3, 4, 1, 2], [0, 0, 0, 1, 0]]), num_nodes=6)
    assert First(k=2, self_loops="edge").mask(graph).tolist() == [True, True, False, True, False]
    assert First(k=2).mask(graph).tolist() == [True, True, False, True, False]
    assert First(k=1, side="out").mask(graph).all()


@pytest.mark.parametrize("side", ["in", "out"])
def test_every_owner_keeps_its_first_edges(side):
    graph = random_graph(0, nodes=15, edges=120)
    mask, owner = First(k=3, side=side, self_loops="edge").mask(graph), owners_of(graph, side)
    for node in range(15):
        assert np.flatnonzero(mask & (owner == node)).tolist() == np.flatnonzero(owner == node)[:3].tolist()


def test_it_goes_by_position_and_no_seed_changes_that():
    graph = random_graph(0, nodes=15, edges=120)
    np.testing.assert_array_equal(First(k=3, seed=1).mask(graph), First(k=3).mask(graph))
    needs = First(k=3).needs
    assert needs.position and needs.owner_id and needs.scope == "edge"
