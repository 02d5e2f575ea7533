"""One form for graphs of several sources: both directions, no self-loops, dense features; the input stays as it is."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402

from lsprune.lab.datasets.undirected_graph import undirected_graph  # noqa: E402

COUNTS = torch.tensor([[3, 0, 1], [0, 0, 0], [0, 2, 0]])


def directed(x=COUNTS) -> Data:
    edges = torch.tensor([[2, 0, 1, 1, 0], [0, 1, 0, 1, 1]])  # one pair twice, one self-loop, one link in one direction
    return Data(x=x, edge_index=edges, y=torch.tensor([1, 0, 1]), train_mask=torch.eye(3).bool())


def test_edges_are_sorted_pairs_without_self_loops_and_the_rest_stays():
    given = directed()
    graph = undirected_graph(given)
    assert graph.edge_index.tolist() == [[0, 0, 1, 2], [1, 2, 0, 0]]
    assert graph.y.equal(given.y) and graph.train_mask.equal(given.train_mask)
    assert given.num_edges == 5 and given.x.equal(COUNTS)


def test_features_are_dense_floats_in_the_form_asked_for():
    assert undirected_graph(directed()).x.tolist() == COUNTS.float().tolist()
    assert undirected_graph(directed(), "binary").x.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    assert undirected_graph(directed(), "row-normalised").x.tolist() == [[0.75, 0, 0.25], [0, 0, 0], [0, 1, 0]]


def test_sparse_features_give_the_same_as_dense_ones():
    sparse = directed(COUNTS.float().to_sparse_csr())  # as PyG stores more than 10,000 columns
    assert undirected_graph(sparse, "row-normalised").x.equal(undirected_graph(directed(), "row-normalised").x)
