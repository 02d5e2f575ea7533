from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphs import random_graph
from lsprune import Graph, GraphError

EDGES = np.array([[0, 1, 2, 2], [1, 2, 0, 1]])


def test_labels_have_a_row_for_each_node_and_are_joined():
    y, mask = np.array([0, 2, 1]), np.array([True, False, True])
    graph = Graph.from_edges(np.array([[0, 1], [1, 2]]), y=y, train_mask=mask)
    assert graph.y is y and graph.train_mask is mask
    rows = Graph.from_csr(np.array([0, 1, 2, 2]), np.array([1, 2]), rows="source", y=y, train_mask=mask)
    assert rows.y is y and rows.train_mask is mask
    both = Graph.concat([graph, graph])
    assert both.y.tolist() == [0, 2, 1, 0, 2, 1] and both.train_mask.tolist() == [True, False, True] * 2
    bare = Graph.from_edges(np.array([[0, 1], [1, 2]]))
    assert Graph.concat([graph, bare]).y is None and bare.y is None
    with pytest.raises(GraphError, match=r"y must be of 3 rows, one for each node, got \[2\]"):
        Graph.from_edges(np.array([[0, 1], [1, 2]]), y=y[:2])
    with pytest.raises(GraphError, match="train_mask must be of one kind of nodes"):
        Graph.from_edges(np.array([[0, 1], [1, 2]]), num_nodes=(3, 3), train_mask=mask)


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


@pytest.mark.parametrize("side", ["in", "out"])
def test_the_owner_is_the_target_in_and_the_source_out(side):
    graph = Graph.from_edges(np.array([[0, 4], [1, 0]]), num_nodes=(5, 2))
    owner, neighbour = graph.owners_and_neighbours(side)
    assert (owner.tolist(), neighbour.tolist()) == (([1, 0], [0, 4]) if side == "in" else ([0, 4], [1, 0]))
    assert (graph.num_owners(side), graph.num_neighbours(side)) == ((2, 5) if side == "in" else (5, 2))


def test_several_become_one_with_offsets_and_attributes_in_step():
    first, second = random_graph(0, nodes=5, edges=8, edge_dim=2), random_graph(1, nodes=7, edges=6, edge_dim=2)
    both = Graph.concat([first, second])
    assert (both.num_nodes, both.num_edges, both.num_graphs) == (12, 14, 2)
    assert both.source_ptr.tolist() == both.target_ptr.tolist() == [0, 5, 12]
    ends = np.concatenate([np.stack(first.ends()), np.stack(second.ends()) + 5], axis=1)
    assert np.stack(both.ends()).tolist() == ends.tolist()
    assert both.x.tolist() == [*first.x.tolist(), *second.x.tolist()] and both.x_source is both.x_target
    assert both.edge_attr.tolist() == [*first.edge_attr.tolist(), *second.edge_attr.tolist()]
    assert Graph.concat([both, first]).source_ptr.tolist() == [0, 5, 12, 17]


def test_relations_are_joined_on_both_sides():
    x = np.arange(2.0)[:, None], np.arange(3.0)[:, None]
    relation = Graph.from_edges(np.array([[0, 1], [2, 0]]), num_nodes=(2, 3), x=x)
    both = Graph.concat([relation, relation])
    assert [end.tolist() for end in both.ends()] == [[0, 1, 2, 3], [2, 0, 5, 3]]
    assert (both.num_sources, both.num_targets, both.bipartite) == (4, 6, True)
    assert both.source_ptr.tolist() == [0, 2, 4] and both.target_ptr.tolist() == [0, 3, 6]
    assert both.x_source.tolist() == [[0], [1], [0], [1]] and both.x_target.shape == (6, 1)


def test_sparse_attributes_stay_sparse():
    graphs = [Graph.from_edges(np.array([[0], [1]]), x=kind(np.eye(2))) for kind in (scipy.sparse.coo_array, np.array)]
    assert Graph.concat(graphs).x.toarray().tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]


def test_what_does_not_go_together_is_named():
    plain, relation = random_graph(0), Graph.from_edges(np.array([[0], [0]]), num_nodes=(1, 1))
    with pytest.raises(GraphError, match="all bipartite or none of them"):
        Graph.concat([plain, relation])
    with pytest.raises(GraphError, match="all undirected or none of them"):
        Graph.concat([plain, Graph.from_edges(EDGES, undirected=True)])
    with pytest.raises(GraphError, match=r"graph 1: x must be as wide as that of graph 0, \[5\], got \[3\]"):
        Graph.concat([plain, random_graph(0, dim=3)])
    with pytest.raises(GraphError, match="graph 1: x must be on all graphs of a list or on none, got none here"):
        Graph.concat([plain, random_graph(0, dim=0)])
    with pytest.raises(GraphError, match="graphs must hold at least one graph, got none"):
        Graph.concat([])
    with pytest.raises(GraphError, match="edge_attr must be on all graphs of a list"):
        Graph.concat([plain, random_graph(0, edge_dim=1)])


def test_columns_by_name_are_checked_and_joined():
    ends = np.array([[0, 1], [1, 0]])
    whole = Graph.from_edges(ends, edge_columns={"t": [2**60, 2**60 + 1]}, node_columns={"t": np.array([3, 4])})
    assert whole.edge_columns["t"].tolist() == [2**60, 2**60 + 1]
    assert whole.node_columns["t"][0] is not None
    joined = Graph.concat([whole, whole])
    assert joined.edge_columns["t"].tolist() == [2**60, 2**60 + 1] * 2
    assert joined.node_columns["t"][1].tolist() == [3, 4] * 2
    pair = Graph.from_edges(ends, num_nodes=(2, 2), node_columns={"t": (None, np.array([3, 4]))})
    assert pair.node_columns["t"][0] is None
    assert Graph.concat([pair, pair]).node_columns["t"][1].tolist() == [3, 4, 3, 4]
    assert Graph.concat([whole, Graph.from_edges(ends)]).edge_columns is None
    floats = Graph.from_edges(ends, edge_columns={"t": [0.5, 1.5]})
    with pytest.raises(
        GraphError, match="column 't' must be of one type on all graphs of a list, got float64 and int64"
    ):
        Graph.concat([whole, floats])
    for values, message in (([1], "must have 2 values, one for each edge, got"), (["a", "b"], "numbers or dates")):
        with pytest.raises(GraphError, match=f"column 't' must .*{message}|column 't' {message}"):
            Graph.from_edges(ends, edge_columns={"t": values})
