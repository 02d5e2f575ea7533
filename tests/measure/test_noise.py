from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphs import random_graph
from lsprune import Graph, OptionError
from lsprune.measure.noise import column_deviations, dropout_mask, is_vector, subgraph, with_noise


def test_noise_has_the_size_of_its_column():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4000, 3)) * [1, 10, 0]
    graph = Graph.from_edges(np.array([[0], [1]]), x=x, edge_attr=np.array([[3.0]]))
    moved = with_noise(graph, 0.5, seed=1)
    assert (moved.x - x).std(axis=0) == pytest.approx(0.5 * x.std(axis=0), rel=0.05)
    assert moved.edge_attr.tolist() == [[3.0]]  # one row has no spread
    assert with_noise(graph, 0.5, seed=1).x.tolist() == moved.x.tolist() != with_noise(graph, 0.5, seed=2).x.tolist()
    assert np.array_equal(graph.x, x)  # the caller's array stays


def test_sources_and_targets_of_one_set_move_together_and_of_two_apart():
    one = with_noise(random_graph(0), 0.1, seed=0)
    assert one.x_source is one.x_target
    x = np.random.default_rng(0).standard_normal((5, 2))
    two = with_noise(Graph.from_edges(np.array([[0], [1]]), num_nodes=(5, 5), x=(x, x.copy())), 0.1, seed=0)
    assert not np.allclose(two.x_source, two.x_target)


def test_sparse_attributes_stay_sparse_and_have_the_dense_spread():
    dense = np.random.default_rng(0).standard_normal((50, 6)) * (np.random.default_rng(1).random((50, 6)) < 0.3)
    sparse = scipy.sparse.csr_array(dense)
    assert column_deviations(sparse) == pytest.approx(column_deviations(dense), rel=1e-5)
    sparse = scipy.sparse.csr_array(dense.astype(np.float32) * [1, 1, 1, 1, 1, 1000], dtype=np.float32)
    graph, given = Graph.from_edges(np.array([[0], [1]]), x=sparse), sparse.toarray()
    moved = with_noise(graph, 0.2, seed=0).x
    assert moved.nnz == sparse.nnz and np.all(moved.data != sparse.data)
    assert np.array_equal(sparse.toarray(), given)
    steps = np.abs((moved - sparse).toarray()).max(axis=0)
    assert steps[5] > 100 * steps[:5].max() > 0


def test_categories_are_no_vectors():
    assert not any(is_vector(values) for values in (None, np.arange(4), np.arange(4)[:, None]))
    assert is_vector(np.ones((4, 2), int)) and is_vector(np.ones(4)) and is_vector(np.ones((4, 1)))
    graph = Graph.from_edges(np.array([[0], [1]]), x=np.arange(4))
    assert with_noise(graph, 1.0, seed=0).x.tolist() == [0, 1, 2, 3]


def test_dropout_takes_its_share_and_both_directions():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 1000, (2, 20_000))
    graph = Graph.from_edges(np.concatenate([ends, ends[::-1]], axis=1))
    left = dropout_mask(graph, 0.3, seed=0)
    assert left.mean() == pytest.approx(0.7, abs=0.02)
    assert np.array_equal(left[:20_000], left[20_000:])
    assert dropout_mask(graph, 0.0, seed=0).all() and not dropout_mask(graph, 1.0, seed=0).any()
    assert not np.array_equal(left, dropout_mask(graph, 0.3, seed=1))


def test_subgraph_keeps_attributes_in_step():
    csr = Graph.from_csr(np.array([0, 2, 3]), np.array([0, 1, 0]), rows="target", edge_attr=np.array([5.0, 6.0, 7.0]))
    part = subgraph(csr, np.array([False, True, True]))
    assert [end.tolist() for end in part.ends()] == [[1, 0], [0, 1]]
    assert part.edge_attr.tolist() == [6.0, 7.0] and part.num_nodes == 2


@pytest.mark.parametrize("size", [-0.1, float("nan"), "1", True])
def test_bad_sizes_are_named(size):
    graph = random_graph(0)
    with pytest.raises(OptionError, match="noise must be a number"):
        with_noise(graph, size, seed=0)
    with pytest.raises(OptionError, match=r"dropout must be a number in \[0, 1\]"):
        dropout_mask(graph, size, seed=0)


@pytest.mark.parametrize("kind", [scipy.sparse.coo_array, scipy.sparse.csc_array, scipy.sparse.lil_array])
def test_subgraph_takes_rows_of_any_sparse_format(kind):
    graph = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 0]]), edge_attr=kind(np.diag([5.0, 6.0, 7.0])))
    part = subgraph(graph, np.array([True, False, True]))
    assert part.edge_attr.toarray().tolist() == [[5, 0, 0], [0, 0, 7]]


def test_a_numpy_seed_is_a_seed():
    graph = random_graph(0)
    assert np.array_equal(dropout_mask(graph, 0.5, np.int64(3)), dropout_mask(graph, 0.5, 3))
