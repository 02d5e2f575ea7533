from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, GraphError

EDGES = np.array([[0, 1, 2, 2], [1, 2, 0, 1]])


def test_edges_stay_in_the_callers_order_and_are_not_copied():
    graph = Graph.from_edges(EDGES)
    source, target = graph.ends()
    assert np.shares_memory(source, EDGES)
    assert source.tolist() == [0, 1, 2, 2]
    assert target.tolist() == [1, 2, 0, 1]
    assert (graph.num_nodes, graph.num_edges, graph.num_graphs) == (3, 4, 1)


def test_csr_rows_are_sources_or_targets():
    indptr, indices = np.array([0, 1, 3, 3]), np.array([2, 0, 1])
    by_source = Graph.from_csr(indptr, indices, rows="source").ends()
    by_target = Graph.from_csr(indptr, indices, rows="target").ends()
    assert [end.tolist() for end in by_source] == [[0, 1, 1], [2, 0, 1]]
    assert [end.tolist() for end in by_target] == [[2, 0, 1], [0, 1, 1]]


def test_bipartite_graphs_count_their_sides():
    graph = Graph.from_edges(np.array([[0, 4], [1, 0]]), num_nodes=(5, 2), x=(np.ones((5, 1)), np.ones((2, 3))))
    assert graph.bipartite
    assert (graph.num_sources, graph.num_targets) == (5, 2)
    assert graph.x[1].shape == (2, 3)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Graph.from_edges(np.array([[0, 5], [1, 1]]), num_nodes=3), r"source ids .* \[0, 3\), got 5 at edge 1"),
        (lambda: Graph.from_edges(np.array([[0, 1], [1, -2]]), num_nodes=3), r"target ids must be in \[0, 3\), got -2"),
        (lambda: Graph.from_edges(np.array([[0.0, 1.0], [1.0, 2.0]])), "edge_index must be integers, got float64"),
        (lambda: Graph.from_edges(np.array([[0, 1, 2]])), r"shape \[2, E\], got \[1, 3\]"),
        (lambda: Graph.from_edges(([0, 1], [1])), "as many sources as targets, got 2 and 1"),
        (lambda: Graph.from_edges(EDGES, num_nodes=3, x=np.ones((4, 2))), r"x must have 3 rows, .* got \[4, 2\]"),
        (lambda: Graph.from_edges(EDGES, edge_attr=np.ones(3)), r"edge_attr must have 4 rows, .* got \[3\]"),
        (lambda: Graph.from_edges(EDGES, x=np.array(["a", "b", "c"])), "x must be numbers"),
        (lambda: Graph.from_edges(EDGES, num_nodes=-1), "num_nodes must be a whole number >= 0, got -1"),
        (lambda: Graph.from_edges(EDGES, ptr=[0, 2]), r"ptr must rise from 0 to the number of nodes \(3\)"),
        (lambda: Graph.from_csr([0, 2], [0], rows="target"), "indptr must rise from 0 to the number of indices"),
        (lambda: Graph.from_csr([0, 1], [0], rows="in"), 'rows must be "source" or "target"'),
        (lambda: Graph.from_csr([0, 1], [3], rows="target"), r"indices ids must be in \[0, 1\), got 3"),
    ],
)  # fmt: skip
def test_bad_input_is_named(build, says):
    with pytest.raises(GraphError, match=says):
        build()
