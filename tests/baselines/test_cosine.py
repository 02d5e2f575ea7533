from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse
from baselines_helpers import best_of_each

from graphs import random_graph
from lsprune import Graph, GraphError
from lsprune.baselines import Cosine
from lsprune.kernels.reference.quantisation import unit_fine


def product(a, b) -> int:
    """The product of two unit rows in units of 2^-28."""
    left, right = (unit_fine([float(value) for value in row], 6) for row in (a, b))
    return sum(x * y for x, y in zip(left, right, strict=True))


@pytest.mark.parametrize("side", ["in", "out"])
def test_the_most_similar_neighbours_are_kept(side):
    for seed in range(5):
        graph = random_graph(seed, nodes=12, edges=70, dim=6)
        expected = best_of_each(graph, 3, lambda u, v, e, x=graph.x: -product(x[u], x[v]), side, seed=seed)
        np.testing.assert_array_equal(Cosine(k=3, side=side, seed=seed).mask(graph), expected)


@pytest.mark.parametrize("dim", [2, 50, 3000])
def test_whole_numbers_are_as_good_as_floats(dim):
    graph = random_graph(1, nodes=30, edges=400, dim=dim)
    unit = graph.x.astype(float) / np.linalg.norm(graph.x.astype(float), axis=1, keepdims=True)
    true = unit @ unit.T
    found = np.array([[product(a, b) / 2.0**28 for b in graph.x] for a in graph.x]) if dim < 100 else true
    assert abs(found - true).max() < 1e-3
    expected = best_of_each(graph, 4, lambda u, v, e: -round(true[u, v], 9))
    assert (Cosine(k=4).mask(graph) != expected).sum() <= 2  # only where two cosines are as good as equal


def test_neither_the_length_of_a_row_nor_its_type_counts():
    rng = np.random.default_rng(0)
    x = (rng.integers(-8, 9, (20, 30)) * (rng.random((20, 30)) < 0.3)).astype(np.float32) / 8
    x[3] = 0
    edges = rng.integers(0, 20, (2, 200))
    expected = Cosine(k=3).mask(Graph.from_edges(edges, x=x))
    assert expected.sum() < 190
    scaled = x * 2.0 ** rng.integers(-40, 40, (20, 1))
    for other in (x.astype(np.float16), x.astype(float), np.asfortranarray(x), scaled, scipy.sparse.csr_matrix(x)):
        np.testing.assert_array_equal(Cosine(k=3).mask(Graph.from_edges(edges, x=other)), expected)
        graph = Graph.from_edges(edges, x=other)
        np.testing.assert_array_equal(Cosine(k=3).mask(graph, executor="reference"), expected)


def test_nodes_of_one_category_are_alike():
    ends = np.stack([np.arange(1, 13), np.zeros(12, int)])
    kind = (np.arange(13) + 2) % 4
    mask = Cosine(k=3).mask(Graph.from_edges(ends, x=kind))
    np.testing.assert_array_equal(mask, kind[1:] == kind[0])


def test_two_kinds_of_nodes_are_compared():
    users, things = np.eye(4)[[2, 0, 1]], np.eye(4)[[0, 1, 2, 2, 1]]
    alike = things[:, [2, 0, 1]] == 1
    ends = np.stack([np.tile(np.arange(3), 5), np.repeat(np.arange(5), 3)])
    graph = Graph.from_edges(ends, x=(users, things))
    np.testing.assert_array_equal(Cosine(k=1).mask(graph).reshape(5, 3), alike)
    few, many = scipy.sparse.csr_matrix(users), scipy.sparse.csr_matrix(things)
    for x in ((few, things), (users, many), (few, many)):
        np.testing.assert_array_equal(Cosine(k=1).mask(Graph.from_edges(ends, x=x)).reshape(5, 3), alike)


def test_what_is_missing_or_wrong_is_named():
    with pytest.raises(GraphError, match=re.escape("no node attributes (x), which cosine compares")):
        Cosine(k=1).mask(random_graph(0, dim=0))
    ends = np.zeros((2, 1), int)
    with pytest.raises(GraphError, match=re.escape("no node attributes (x) of its target nodes")):
        Cosine(k=1).mask(Graph.from_edges(ends, num_nodes=(1, 1), x=(np.ones((1, 2)), None)))
    with pytest.raises(GraphError, match="as many columns for owners as for neighbours .* got 3 and 2"):
        Cosine(k=1).mask(Graph.from_edges(ends, x=(np.ones((1, 2)), np.ones((1, 3)))))
    for make in (np.asarray, scipy.sparse.csr_matrix):
        x = np.ones((4, 3))
        x[2, 1] = np.nan
        with pytest.raises(GraphError, match="x must be finite in float32, got nan in row 2"):
            Cosine(k=1).mask(Graph.from_edges(ends, x=make(x)))
