"""Nodes whose attributes are not known are left out of what `fit` looks at."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse

from graphs import random_graph
from lsprune import LSP, Graph
from lsprune.kernels import runtime
from lsprune.pruners.known_nodes import without_unknown

RUN = runtime(1)


def with_gaps(graph: Graph, sparse: bool = False) -> Graph:
    """The same graph with every node's number doubled: the odd ones are not known and have rows of rubbish."""
    x = np.full((2 * graph.num_nodes, graph.x.shape[1]), 1e6, np.float32)
    x[::2] = graph.x
    ends = 2 * np.stack(graph.ends())
    rows = scipy.sparse.csr_array(x) if sparse else x
    spread = Graph.from_edges(ends, num_nodes=2 * graph.num_nodes, x=rows, edge_attr=graph.edge_attr)
    known = np.arange(2 * graph.num_nodes) % 2 == 0
    return dataclasses.replace(spread, known=(known, known))


def test_a_graph_whose_nodes_are_all_known_stays_as_it_is():
    graph = random_graph(0)
    assert without_unknown(graph, RUN) is graph


@pytest.mark.parametrize("sparse", [False, True])
def test_the_others_are_renumbered_in_their_order(sparse):
    graph = random_graph(0, nodes=15, edges=60, edge_dim=2)
    smaller = without_unknown(with_gaps(graph, sparse), RUN)
    assert (smaller.num_sources, smaller.num_targets, smaller.known) == (15, 15, (None, None))
    np.testing.assert_array_equal(np.stack(smaller.ends()), np.stack(graph.ends()))
    x = smaller.x_source.toarray() if sparse else smaller.x_source
    np.testing.assert_array_equal(x, graph.x)
    assert smaller.x_target is smaller.x_source  # held once


def test_fit_sees_known_nodes_alone():
    graph = random_graph(0, nodes=15, edges=60, edge_dim=2)
    for pruner in (LSP(k=2), LSP(k=2, hash="codebook"), LSP(k=2, hash="identity", weights="similarity")):
        assert pruner.fit(with_gaps(graph)) == pruner.fit(graph)


def test_sources_and_targets_are_known_each_by_themselves():
    x = np.arange(6.0).reshape(6, 1)
    graph = Graph.from_edges(np.array([[1, 5], [0, 2]]), num_nodes=(6, 3), x=(x, np.ones((3, 1))))
    known = np.array([False, True, False, False, True, True])
    smaller = without_unknown(dataclasses.replace(graph, known=(known, None)), RUN)
    assert (smaller.num_sources, smaller.num_targets) == (3, 3)
    assert [end.tolist() for end in smaller.ends()] == [[0, 2], [0, 2]]
    assert smaller.x_source.ravel().tolist() == [1, 4, 5]
