"""Surroundings: sums over a node and its neighbours, and the cosines of two of them."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import communities, view_of
from lsprune import LSP, Graph, GraphError
from lsprune.kernels import runtime
from lsprune.selection.owners import by_owner, group
from lsprune.weights import surroundings as module
from lsprune.weights.surroundings import (
    COSINE_BITS,
    comparable,
    cosines,
    count_surrounding_edges,
    node_part,
    node_rows,
    noisy_cosines,
    surroundings,
)


def test_cosines_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    graph, _ = communities(60)
    rows = rng.integers(-127, 128, (60, 7)).astype(np.int16)
    found = []
    for executor in ("cpu", "reference"):
        run = runtime(2, executor)
        owned = group(graph, LSP(k=1), run)
        units = surroundings(rows, owned, run)
        found.append(cosines(units, owned, run))
    np.testing.assert_array_equal(*found)
    for slot in (0, 17, owned.neighbour.size - 1):
        owner = int(np.searchsorted(owned.indptr, slot, side="right")) - 1
        ends = []
        for node in (owner, int(owned.neighbour[slot])):
            around = owned.neighbour[owned.indptr[node] : owned.indptr[node + 1]]
            ends.append(rows[node].astype(float) + rows[around].astype(float).sum(0))
        cosine = ends[0] @ ends[1] / np.linalg.norm(ends[0]) / np.linalg.norm(ends[1])
        assert found[0][slot] / 2**COSINE_BITS == pytest.approx(cosine, abs=1e-3)


def test_rows_of_nodes_are_centred_so_that_what_all_share_does_not_count():
    graph, kind = communities(width=12)
    fitted = LSP(k=1, hash="identity", weights="similarity").fit(graph)
    scale = dict(fitted.scales)[module.SIMILARITY_ROLE]
    view = view_of(LSP(k=1, hash="identity", weights="similarity"), graph)
    rows = node_rows(view, node_part(graph, "in", 0, scale=scale), scale)
    assert rows.dtype == np.int8 and rows.shape == (240, 12)
    assert np.abs(rows.mean(0)).max() < 0.1 * np.abs(rows).max()
    middles = np.stack([rows[kind == k].mean(0) for k in range(3)])
    assert np.linalg.norm(middles, axis=1).min() > 5


def test_without_noise_cosines_are_those_of_the_whole_graph_and_noise_changes_them():
    graph, _ = communities(90)
    run = runtime(1)
    owned = group(graph, LSP(k=1), run)
    slots = np.arange(0, owned.neighbour.size, 7)
    noisy = noisy_cosines(graph, owned, "in", slots, 0, run)
    fitted = LSP(k=1, hash="identity", weights="similarity").fit(graph)
    scale = dict(fitted.scales)[module.SIMILARITY_ROLE]
    view = fitted.view(graph, owned, 1, run)
    rows = node_rows(view, node_part(graph, "in", 0, scale=scale), scale)
    np.testing.assert_array_equal(noisy(0.0), cosines(surroundings(rows, owned, run), owned, run)[slots])
    off = [np.abs(noisy(noise) - noisy(0.0)).mean() / 2**COSINE_BITS for noise in (0.1, 1.0)]
    assert 0 < off[0] < off[1]


def test_edges_around_are_counted_up_to_a_limit(monkeypatch):
    leaves = np.arange(1, 400)
    owned = by_owner(Graph.from_edges(np.stack([leaves, np.zeros(399, int)])), "in", runtime(1))
    assert count_surrounding_edges(owned, np.array([5])) == module.MAX_NEIGHBOURS + 2  # and the two ends themselves
    monkeypatch.setattr(module, "MAX_NEIGHBOURS", 10)
    assert count_surrounding_edges(owned, np.array([5, 6])) == 10 + 3


def test_nodes_of_one_kind_with_attributes_can_be_compared():
    graph, _ = communities(30)
    two = Graph.from_edges(np.array([[0], [0]]), num_nodes=(1, 1), x=(np.ones((1, 2)), np.ones((1, 2))))
    bare = Graph.from_edges(np.array([[0], [1]]))
    assert [comparable(some) for some in (graph, two, bare)] == [True, False, False]
    for some, says in ((two, "one kind of nodes"), (bare, "needs node attributes")):
        with pytest.raises(GraphError, match=says):
            node_part(some, "in", 0)
    scale = dict(LSP(k=1, hash="identity", weights="similarity").fit(graph).scales)[module.SIMILARITY_ROLE]
    with pytest.raises(GraphError, match="x must have 12 columns as when fitted, got 5"):
        node_part(communities(30, width=5)[0], "in", 0, scale=scale)
