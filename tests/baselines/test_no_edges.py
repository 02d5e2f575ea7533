"""No edges but free self-loops."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, NoEdges, OptionError


@pytest.mark.parametrize(
    ("self_loops", "kept"), [("free", [False, True]), ("edge", [False, False]), ("drop", [False, False])]
)
def test_self_loops_stay_if_they_are_free(self_loops, kept):
    assert NoEdges(self_loops=self_loops).mask(np.array([[0, 1], [1, 1]])).tolist() == kept


def test_between_two_kinds_of_nodes_there_are_no_self_loops():
    graph = Graph.from_edges(np.array([[0, 1], [0, 1]]), num_nodes=(2, 2))
    assert not NoEdges().mask(graph).any()


def test_there_is_no_budget():
    assert NoEdges().with_budget(k=3) == NoEdges()
    assert repr(NoEdges(self_loops="drop")) == "NoEdges(self_loops='drop')"
    with pytest.raises(OptionError, match="self_loops must be one of 'free', 'edge', 'drop', got 'keep'"):
        NoEdges(self_loops="keep")
