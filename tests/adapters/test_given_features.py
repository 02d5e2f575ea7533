"""Features beside an object that has none: the same mask as with the features in the graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from lsprune import LSP, Graph, GraphError, mask, prune

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).astype(np.float32)
MATRIX = sp.random_array((60, 60), density=0.2, rng=RNG, format="csr")
PRUNER = LSP(k=3)


def expected() -> np.ndarray:
    return PRUNER.mask(Graph.from_edges(np.stack(MATRIX.nonzero()), num_nodes=60, x=X))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_matrix_is_pruned_by_features_given_beside_it(kind):
    pruned = prune(MATRIX.asformat(kind), PRUNER, features=X)
    kept = np.zeros((60, 60), bool)
    kept[tuple(ends[expected()] for ends in MATRIX.nonzero())] = True
    assert np.array_equal(pruned.toarray() != 0, kept) and pruned.format == kind


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda x: pa.table({str(i): x[:, i] for i in range(4)})])
def test_features_may_be_dense_sparse_or_a_table(make):
    assert np.array_equal(mask(np.stack(MATRIX.nonzero()), PRUNER, features=make(X)), expected())


def test_features_may_be_a_tensor_and_edges_too():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    ends = torch.from_numpy(np.stack(MATRIX.nonzero()))
    kept = prune(ends, PRUNER, features=torch.from_numpy(X))
    assert torch.equal(kept, ends[:, torch.from_numpy(expected())])


def test_a_networkx_graph_without_attributes():
    graph = nx.DiGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from(zip(*(end.tolist() for end in MATRIX.nonzero()), strict=True))
    assert prune(graph, PRUNER, features=X).number_of_edges() == expected().sum()


def test_nodes_at_the_end_may_have_no_edge_in_a_list_of_edges():
    ends = np.array([[0, 1, 2], [3, 3, 3]])
    assert prune(ends, LSP(k=2), features=X).shape == (2, 2)
    with pytest.raises(GraphError, match="features must have 60 rows, one for each node, got"):
        prune(MATRIX, PRUNER, features=np.concatenate([X, X]))  # a matrix says how many nodes there are


def test_sources_and_targets_that_are_different_nodes_have_a_pair():
    wide = MATRIX[:40]
    graph = Graph.from_csr(wide.indptr, wide.indices, rows="source", num_nodes=(40, 60), x=(X[:40], X))
    assert np.array_equal(mask(wide, PRUNER, features=(X[:40], X)), PRUNER.mask(graph))
    with pytest.raises(GraphError, match=r"features must be a pair .* 40 sources and 60 targets, got ndarray"):
        prune(wide, PRUNER, features=X)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (X[:3], "features must have 60 rows"),
        ("x", "features must be numbers"),
        (np.array(1.0), "features must have one row for each node"),
        (X.astype(object), "features must be numbers"),
    ],
)
def test_bad_features_are_named(features, message):
    with pytest.raises(GraphError, match=message):
        prune(MATRIX, PRUNER, features=features)


def test_features_are_refused_where_an_object_has_its_own():
    graph = Graph.from_edges(np.stack(MATRIX.nonzero()), num_nodes=60, x=X)
    with pytest.raises(GraphError, match="node features .x. of its own"):
        prune(graph, PRUNER, features=X)


def test_without_features_the_error_says_how_to_give_them():
    with pytest.raises(GraphError, match=r"features=x"):
        prune(MATRIX, PRUNER)
