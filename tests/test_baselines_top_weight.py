from __future__ import annotations

import re

import numpy as np
import pytest

from baselines_helpers import best_of_each
from graphs import random_graph, reordered
from lsprune import Graph, GraphError, OptionError
from lsprune.baselines import TopWeight


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64, np.uint8, bool])
def test_the_heaviest_edges_are_kept(side, kind):
    for seed in range(4):
        bare = random_graph(seed, nodes=9, edges=60)
        weight = np.random.default_rng(seed).integers(-4, 5, 60)
        weight = (weight if np.dtype(kind).kind in "fi" else np.abs(weight)).astype(kind)
        graph = Graph.from_edges(bare.ends(), num_nodes=9, edge_attr=weight)
        expected = best_of_each(graph, 2, lambda u, v, e, w=weight: -float(w[e]), side, seed=seed)
        np.testing.assert_array_equal(TopWeight(k=2, side=side, seed=seed).mask(graph), expected)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([-np.float32(1e38), -1e-40, 0.0, 1e-40, 1e38], np.float32),
        np.array([-(2**63), -(2**62) - 1, 0, 2**62, 2**62 + 1]),
        np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64),
    ],
)
def test_any_two_weights_are_told_apart(weights):
    ends = np.stack([np.arange(1, 6), np.zeros(5, int)])
    for k in range(6):
        assert TopWeight(k=k).mask(Graph.from_edges(ends, edge_attr=weights)).tolist() == [False] * (5 - k) + [True] * k


def test_zeros_of_either_sign_are_equal():
    ends = np.stack([np.arange(1, 31), np.zeros(30, int)])
    plus, minus = np.zeros(30, np.float32), np.where(np.arange(30) % 2, -0.0, 0.0).astype(np.float32)
    masks = [TopWeight(k=9).mask(Graph.from_edges(ends, edge_attr=w)) for w in (plus, minus)]
    np.testing.assert_array_equal(*masks)


def test_a_column_is_chosen():
    graph = random_graph(1, nodes=9, edges=60, edge_dim=3)
    for column in range(3):
        one = Graph.from_edges(graph.ends(), num_nodes=9, edge_attr=graph.edge_attr[:, [column]])
        np.testing.assert_array_equal(TopWeight(k=2, column=column).mask(graph), TopWeight(k=2).mask(one))
    with pytest.raises(GraphError, match=r"edge_attr must have one column for top-weight, got 3; choose one"):
        TopWeight(k=2).mask(graph)
    with pytest.raises(GraphError, match=r"edge_attr must have a column 3 for top-weight, got 3 columns"):
        TopWeight(k=2, column=3).mask(graph)


def test_sparse_attributes_give_the_same_mask():
    import scipy.sparse

    graph = random_graph(1, nodes=9, edges=60, edge_dim=3)
    sparse = Graph.from_edges(graph.ends(), num_nodes=9, edge_attr=scipy.sparse.csr_array(graph.edge_attr))
    np.testing.assert_array_equal(TopWeight(k=2, column=1).mask(sparse), TopWeight(k=2, column=1).mask(graph))


def test_parallel_edges_are_told_apart_by_their_weights():
    graph = random_graph(3, nodes=4, edges=50, edge_dim=1)
    order = np.random.default_rng(0).permutation(50)
    np.testing.assert_array_equal(TopWeight(k=3).mask(graph)[order], TopWeight(k=3).mask(reordered(graph, order)))


def test_what_is_wrong_is_named():
    with pytest.raises(GraphError, match=re.escape("no edge attributes (edge_attr), which top-weight needs")):
        TopWeight(k=1).mask(random_graph(0))
    for value in (np.nan, np.inf, 1e300):
        weight = np.array([1.0, value, 2.0])
        with pytest.raises(GraphError, match=r"edge_attr must be finite in float32, got (nan|inf) in row 1"):
            TopWeight(k=1).mask(Graph.from_edges(np.array([[1, 2, 3], [0, 0, 0]]), edge_attr=weight))
    for column in (-1, True, 0.5):
        with pytest.raises(OptionError, match="column must be a whole number >= 0 or None"):
            TopWeight(k=1, column=column)
