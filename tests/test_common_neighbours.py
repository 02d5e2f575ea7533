"""Common neighbours of the two ends of every edge, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import LSP, Graph
from lsprune.common_neighbours import overlaps
from lsprune.kernels import runtime
from lsprune.selection.owners import group


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_overlaps_are_those_of_sets(closed, side, executor):
    ends = np.random.default_rng(0).integers(0, 12, (2, 60))  # parallel edges and self-loops among them
    graph = Graph.from_edges(ends, num_nodes=13)
    own, other = (ends[1], ends[0]) if side == "in" else (ends[0], ends[1])
    sets = [set(other[own == node].tolist()) | ({node} if closed else set()) for node in range(13)]
    run = runtime(2, executor)
    owned = group(graph, LSP(k=1, hash="identity", side=side, self_loops="edge"), run)
    common, union = overlaps(owned, 13, run, closed=closed)
    owner = owned.owners(0, 13)
    expected = [(len(sets[u] & sets[v]), len(sets[u] | sets[v])) for u, v in zip(owner, owned.neighbour, strict=True)]
    assert list(zip(common.tolist(), union.tolist(), strict=True)) == expected
    assert len(expected) == 60


def test_a_graph_without_edges_has_no_overlaps():
    graph = Graph.from_edges(np.zeros((2, 0), int), num_nodes=3)
    run = runtime(1)
    common, union = overlaps(group(graph, LSP(k=1, hash="identity"), run), 3, run, closed=True)
    assert common.shape == union.shape == (0,)
