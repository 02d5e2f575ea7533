"""Neighbours with similar surroundings are preferred, the same ones on every executor."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphs import communities, same_kind
from lsprune import LSP, Graph, GraphError, load
from lsprune.errors import ConstantWarning
from lsprune.weights import Column, Similarity


def naive(graph: Graph) -> np.ndarray:
    """The cosine of the surroundings of both ends of every edge, in floats."""
    x = graph.x_source.astype(np.float64)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    source, target = graph.ends()
    sums = centred.copy()
    other = source != target
    np.add.at(sums, target[other], centred[source[other]])
    rows = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return (rows[source] * rows[target]).sum(1)


@pytest.mark.parametrize("power", [1.0, 0.25])
def test_the_weight_is_a_power_of_the_cosine_of_the_surroundings(power):
    graph, _ = communities()
    weight = np.exp2(16 * naive(graph)).astype(np.float32)
    given = Graph.from_edges(np.stack(graph.ends()), num_nodes=graph.num_nodes, edge_attr=weight)
    one = LSP(k=3, hash="identity", weights=Similarity(power=power)).mask(graph)
    other = LSP(k=3, hash="identity", weights=Column(power=power)).mask(given)
    assert (one != other).mean() < 0.02  # rows have 8 bits
    assert (one != LSP(k=3, hash="identity").mask(graph)).mean() > 0.1


@pytest.mark.parametrize("hash", ["projection", "identity", "codebook"])
@pytest.mark.parametrize("width", [12, 200])
def test_neighbours_of_the_same_kind_are_kept_and_executors_agree(hash, width):
    graph, kind = communities(width=width)
    pruner = LSP(keep=0.3, hash=hash, weights="similarity")
    mask = pruner.mask(graph)
    assert same_kind(graph, kind, mask) > same_kind(graph, kind, LSP(keep=0.3, hash=hash).mask(graph)) + 0.15
    np.testing.assert_array_equal(pruner.mask(graph, executor="reference"), mask)
    np.testing.assert_array_equal(pruner.mask(graph, threads=3), mask)
    sparse = Graph.from_edges(
        np.stack(graph.ends()), num_nodes=graph.num_nodes, x=scipy.sparse.csr_array(graph.x_source)
    )
    np.testing.assert_array_equal(pruner.mask(sparse), mask)


def test_the_order_of_edges_does_not_matter():
    graph, _ = communities()
    ends, order = np.stack(graph.ends()), np.random.default_rng(2).permutation(graph.num_edges)
    pruner = LSP(k=3, weights="similarity")
    shuffled = Graph.from_edges(ends[:, order], num_nodes=graph.num_nodes, x=graph.x_source)
    np.testing.assert_array_equal(pruner.mask(shuffled), pruner.mask(graph)[order])


def test_a_fitted_pruner_prunes_graphs_one_by_one_as_together():
    one, two = communities(90, seed=3)[0], communities(60, seed=4)[0]
    ends = np.concatenate([np.stack(one.ends()), np.stack(two.ends()) + 90], axis=1)
    both = Graph.from_edges(ends, num_nodes=150, x=np.concatenate([one.x_source, two.x_source]))
    pruner = LSP(k=2, weights="similarity").fit(both)
    apart = np.concatenate([pruner.mask(one), pruner.mask(two)])
    np.testing.assert_array_equal(apart, pruner.mask(both))


def test_a_fitted_pruner_is_saved_and_loaded(tmp_path):
    graph, _ = communities()
    for hash in ("projection", "identity"):
        pruner = LSP(k=2, hash=hash, weights="similarity").fit(graph)
        pruner.save(tmp_path / "pruner.npz")
        again = load(tmp_path / "pruner.npz")
        assert again == pruner
        other = communities(seed=5)[0]
        np.testing.assert_array_equal(again.mask(other), pruner.mask(other))


def test_categories_are_alike_where_their_surroundings_are():
    graph, kind = communities()
    values = Graph.from_edges(np.stack(graph.ends()), num_nodes=graph.num_nodes, x=kind)
    mask = LSP(keep=0.3, hash="identity", weights="similarity").mask(values)
    assert same_kind(values, kind, mask) > 0.8


def test_what_cannot_be_compared_is_refused_by_name():
    ends = np.random.default_rng(0).integers(0, 9, (2, 40))
    with pytest.raises(GraphError, match='weights="similarity" needs node attributes'):
        LSP(k=1, hash="identity", weights="similarity").mask(Graph.from_edges(ends))
    two = Graph.from_edges(ends, num_nodes=(9, 9), x=(np.eye(9, dtype=np.float32),) * 2)
    with pytest.raises(GraphError, match='weights="similarity" needs one kind of nodes'):
        LSP(k=1, weights="similarity").mask(two)
    bad = np.eye(9, dtype=np.float32)
    bad[3, 3] = np.nan
    with pytest.raises(GraphError, match="finite"):
        LSP(k=1, hash="identity", weights="similarity").mask(Graph.from_edges(ends, x=bad))


@pytest.mark.parametrize("hash", ["projection", "identity", "structure"])
@pytest.mark.parametrize("width", [3, 13, 200])
def test_attributes_must_be_as_when_fitted(hash, width):
    fitted = LSP(k=2, hash=hash, weights="similarity").fit(communities()[0])
    for executor in ("cpu", "reference"):
        with pytest.raises(GraphError, match=f"x must have 12 columns as when fitted, got {width}"):
            fitted.mask(communities(width=width)[0], executor=executor)
    bare = Graph.from_edges(np.stack(communities()[0].ends()))
    with pytest.raises(GraphError, match="attributes"):
        fitted.mask(bare)


def test_categories_must_be_as_when_fitted_where_nobody_has_a_choice_too():
    ends = np.array([[0, 1], [1, 2]])
    fitted = LSP(k=2, hash="identity", weights="similarity").fit(Graph.from_edges(ends, x=np.array([0, 1, 3])))
    for x, says in ((np.array([0, 1, 50]), "as a category must be in"), (np.eye(3, dtype=np.float32), "a category")):
        with pytest.raises(GraphError, match=says):
            fitted.mask(Graph.from_edges(ends, x=x))


@pytest.mark.parametrize("hash", ["projection", "identity"])
def test_fitting_twice_is_fitting_once(hash):
    graph, _ = communities()
    once = LSP(k=2, hash=hash, weights="similarity").fit(graph)
    assert once.fit(graph) == once
    assert once.fit(communities(width=5)[0]) == LSP(k=2, hash=hash, weights="similarity").fit(communities(width=5)[0])


def test_similarity_of_equal_nodes_is_warned_of():
    graph = Graph.from_edges(np.array([[0, 1, 2], [2, 2, 1]]), x=np.ones((3, 4), np.float32))
    with pytest.warns(ConstantWarning, match="no neighbour is more similar than another"):
        LSP(k=1, hash="identity", weights="similarity").fit(graph)


def test_the_edges_of_other_owners_are_needed():
    needs = Similarity().needs
    assert (needs.scope, needs.neighbour) == ("neighbourhood", True)
    assert "similarity" in needs.reason
    assert Similarity().learns and not LSP(k=1, hash="identity", weights="similarity").is_fitted
