from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, GraphError
from lsprune.measure.adjacency import checked_mask, matrix, numbered_ends, owner_rows, undirected

EDGES = np.array([[0, 0, 1, 2, 0], [1, 1, 1, 0, 2]])  # a parallel edge and a self-loop
MASK = np.array([True, False, True, True, True])


def test_targets_of_a_bipartite_graph_are_numbered_after_its_sources():
    graph = Graph.from_edges(np.array([[0, 1], [0, 2]]), num_nodes=(2, 3))
    assert [end.tolist() for end in numbered_ends(graph)] == [[0, 1], [2, 4]]
    assert [end.tolist() for end in numbered_ends(graph, np.array([False, True]))] == [[1], [4]]


@pytest.mark.parametrize("side", ["in", "out"])
def test_rows_are_owners_and_columns_neighbours(side):
    rows = owner_rows(Graph.from_edges(EDGES), None, side).toarray()
    expected = np.array([[0, 0, 1], [1, 0, 0], [1, 0, 0]])
    assert rows.tolist() == (expected if side == "in" else expected.T).tolist()
    bipartite = Graph.from_edges(np.array([[0, 1], [0, 2]]), num_nodes=(2, 3))
    assert owner_rows(bipartite, None, side).shape == ((3, 2) if side == "in" else (2, 3))


def test_undirected_is_symmetric_without_loops_and_duplicates():
    result = undirected(Graph.from_edges(EDGES), MASK).toarray()
    assert result.tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert matrix(np.array([0, 0]), np.array([1, 1]), (1, 2)).toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize("mask", [[0, 1, 1, 1, 1], [True], None, [[True] * 5], np.ma.masked_array([True] * 5)])
def test_anything_but_a_mask_is_refused(mask):
    with pytest.raises(GraphError, match=r"mask must be bool \[5\], got"):
        checked_mask(mask, 5)
    assert checked_mask(MASK.tolist(), 5).tolist() == MASK.tolist()
