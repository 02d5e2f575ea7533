"""A column of the edges or of the neighbours as weight."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from lsprune import LSP, Graph, GraphError, OptionError
from lsprune.weights import Column


def test_edge_weights_are_weights():
    owners = 4000
    ends = np.stack([np.arange(2 * owners) + owners, np.tile(np.arange(owners), 2)])
    weight = np.repeat(np.array([3.0, 1.0], np.float32), owners)
    graph = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=weight)
    mask = LSP(k=1, hash="identity", weights="edge").mask(graph)
    assert mask[:owners].mean() == pytest.approx(3 / 4, abs=0.03)
    scaled = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=weight * 2**20)
    np.testing.assert_array_equal(LSP(k=1, hash="identity", weights="edge").mask(scaled), mask)  # only ratios count


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("sparse", [False, True])
def test_any_column_of_edges_or_neighbours_can_be_a_weight(side, sparse):
    owners = 4000
    other, own = np.arange(2 * owners) + owners, np.tile(np.arange(owners), 2)
    ends = np.stack([other, own] if side == "in" else [own, other])
    weight = np.repeat(np.array([3.0, 1.0], np.float32), owners)
    table = np.stack([np.ones(2 * owners), weight], axis=1).astype(np.float32)
    x = np.concatenate([np.ones((owners, 2), np.float32), table])
    of_edge = Graph.from_edges(ends, num_nodes=3 * owners, edge_attr=table)
    of_node = Graph.from_edges(ends, num_nodes=3 * owners, x=scipy.sparse.csr_array(x) if sparse else x)
    for graph, weights in ((of_edge, "edge:1"), (of_node, "neighbour:1")):
        mask = LSP(k=1, hash="identity", weights=weights, side=side).mask(graph)
        assert mask[:owners].mean() == pytest.approx(3 / 4, abs=0.03)
        same = LSP(k=1, hash="identity", weights=weights[:-1] + "0", side=side).mask(graph)
        assert same[:owners].mean() == pytest.approx(1 / 2, abs=0.03)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_weights_must_be_positive_and_finite(bad):
    ends = np.random.default_rng(0).integers(0, 9, (2, 40))
    weight = np.ones(40, np.float32)
    weight[7] = bad
    with pytest.raises(GraphError, match="finite"):
        LSP(k=1, hash="identity", weights="edge").mask(Graph.from_edges(ends, edge_attr=weight))


def test_weights_of_wider_arrays_belong_to_their_edges():
    ends = np.stack([np.arange(40) + 1, np.zeros(40, int)])
    attr = np.ones((40, 2, 3), np.float32)
    attr[7, 1, 2] = 1e6
    for seed in range(20):
        mask = LSP(k=1, hash="identity", weights="edge:5", seed=seed).mask(Graph.from_edges(ends, edge_attr=attr))
        assert np.flatnonzero(mask).tolist() == [7]
    x = scipy.sparse.coo_array(np.concatenate([np.ones((1, 2)), np.full((40, 2), 2.0)]).astype(np.float32))
    graph = Graph.from_edges(ends, num_nodes=41, x=x)
    assert LSP(k=1, hash="identity", weights="neighbour:0").mask(graph).sum() == 1


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (
            "neighbour:9",
            r"weights=Column\(power=1.0, part='neighbour', column=9\) needs x with more than 9 columns, got 9",
        ),
        ("neighbour:2", r"weights=Column\(.*column=2\) must be > 0 and finite in float32"),
        ("edge:0", r"weights=Column\(.*column=0\) needs edge_attr with more than 0 columns, got none"),
        ("edge", r"weights=Column\(.*column=None\) needs edge_attr with one column, got none"),
        (Column(part="neighbour"), r"weights=Column\(.*column=None\) needs x with one column, got 9"),
    ],
    ids=str,
)
def test_columns_that_a_graph_lacks_are_named(weights, says):
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 9, (2, 40)), x=np.eye(9, dtype=np.float32))
    with pytest.raises(GraphError, match=says):
        LSP(k=1, weights=weights).mask(graph)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"part": "owner"}, "part must be one of 'edge', 'neighbour', got 'owner'"),
        ({"column": -1}, r"column must be a whole number in \[0, 2\^63\), the name of a column, or None, got -1"),
        ({"column": 1.5}, "column must be a whole number"),
    ],
    ids=str,
)
def test_bad_options_are_named(options, says):
    with pytest.raises(OptionError, match=says):
        Column(**options)


def test_what_is_needed_are_the_attributes_that_hold_the_column():
    assert (Column().needs.edge, Column().needs.neighbour) == (True, False)
    assert (Column(part="neighbour").needs.edge, Column(part="neighbour").needs.neighbour) == (False, True)
