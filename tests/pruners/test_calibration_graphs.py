"""Graphs to try candidates on: a sample that does not depend on the order of edges, and a disturbed copy of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphs import random_graph, reordered
from lsprune import LSP, Graph
from lsprune.kernels import runtime
from lsprune.pruners import calibration_graphs as trials
from lsprune.pruners.calibration_graphs import disturbed_graph, sample_slots, slots_in_order, slots_to_graph
from lsprune.selection.owners import group

RUN = runtime(1)


def grouped(graph: Graph, side: str = "in"):
    return group(graph, LSP(k=1, side=side), RUN)


def content(graph: Graph) -> list[tuple]:
    """The attributes of both ends and of each edge, sorted: what a graph is, whatever its nodes are called."""
    rows = np.concatenate([graph.x_source[graph.ends()[0]], graph.x_target[graph.ends()[1]], graph.edge_attr], axis=1)
    return sorted(map(tuple, rows.tolist()))


def test_samples_stay_within_their_limits_and_leave_out_owners_without_a_choice():
    graph = random_graph(0, nodes=60, edges=900)
    owned = grouped(graph)
    degree = np.diff(owned.indptr)
    for least, most, each in ((0, 10**6, 10**6), (5, 10**6, 10**6), (12, 100, 8), (0, 37, 10**6), (2, 10**6, 3)):
        slots = sample_slots(graph, owned, 3, least, most, each)
        owner = np.searchsorted(owned.indptr, slots, side="right") - 1
        taken = np.bincount(owner, minlength=degree.size)
        assert np.unique(slots).size == slots.size <= most
        assert taken.max() <= each
        assert (degree[taken > 0] > least).all()
        if most > 900 * 2:
            np.testing.assert_array_equal(taken, np.where(degree > least, np.minimum(degree, each), 0))


def test_the_last_owner_fills_the_room_that_is_left():
    ends = np.stack([np.arange(1, 501), np.zeros(500, int)])  # one owner with more edges than may be sampled
    graph = Graph.from_edges(ends)
    assert sample_slots(graph, grouped(graph), 0, 2, 64, 10**6).size == 64


@pytest.mark.parametrize("side", ["in", "out"])
def test_the_sample_does_not_depend_on_the_order_of_edges(side):
    graph = random_graph(1, nodes=20, edges=400, dim=3, edge_dim=2)
    found = []
    for order in (np.arange(400), np.random.default_rng(0).permutation(400)):
        other = reordered(graph, order)
        owned = grouped(other, side)
        slots = slots_in_order(other, owned, sample_slots(other, owned, 0, 2, 60, 7))
        found.append(slots_to_graph(other, owned, side, slots))
    np.testing.assert_array_equal(*(np.stack(one.ends()) for one in found))
    np.testing.assert_array_equal(*(one.edge_attr for one in found))
    np.testing.assert_array_equal(*(one.x_source for one in found))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_graph_of_some_slots_has_their_edges_and_no_other_nodes(sparse):
    graph = random_graph(2, nodes=30, edges=200, dim=4, edge_dim=2)
    owned = grouped(graph)
    slots = np.arange(0, owned.neighbour.size, 5)
    edges = owned.edges(0, owned.neighbour.size)[slots]
    whole = Graph.from_edges(
        np.stack(graph.ends())[:, edges], num_nodes=30, x=graph.x, edge_attr=graph.edge_attr[edges]
    )
    if sparse:
        matrix = scipy.sparse.csr_array(graph.x)
        graph = Graph.from_edges(graph.ends(), num_nodes=30, x=matrix, edge_attr=graph.edge_attr)
    part = slots_to_graph(graph, owned, "in", slots)
    assert part.num_sources == np.unique(whole.ends()[0]).size and part.num_targets == np.unique(whole.ends()[1]).size
    if not sparse:
        assert content(part) == content(whole)
    assert hasattr(part.x_source, "tocsr") == sparse


def test_noise_leaves_categories_alone_and_renames_nodes():
    rng = np.random.default_rng(0)
    x, attr = rng.integers(0, 5, 40), rng.random((300, 2))
    graph = Graph.from_edges(rng.integers(0, 40, (2, 300)), x=x, edge_attr=attr)
    owned = grouped(graph)
    clean = slots_to_graph(graph, owned, "in", np.arange(owned.edge.shape[0]))
    noisy = disturbed_graph(clean, 0.5, 0)
    for side in (0, 1):
        np.testing.assert_array_equal(noisy.x[side][noisy.ends()[side]], clean.x[side][clean.ends()[side]])
        assert (noisy.ends()[side] != clean.ends()[side]).mean() > 0.9  # the same node, another number
    off = (noisy.edge_attr - clean.edge_attr).std(0) / clean.edge_attr.std(0)
    np.testing.assert_allclose(off, 0.5, atol=0.1)


def test_noise_on_the_largest_numbers_stays_finite():
    rows = np.array([[3e38, 0], [-3e38, 0]] * 20, np.float32)
    noisy = trials._noisy(rows, 2.0, 0, 0)
    assert np.isfinite(noisy).all() and (noisy[:, 0] != rows[:, 0]).any()


def test_noise_is_the_same_for_a_row_whatever_else_is_there(monkeypatch):
    rows = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    noisy = trials._noisy(rows, 0.3, 7, 1)
    monkeypatch.setattr(trials, "BLOCK_VALUES", 12)
    np.testing.assert_array_equal(trials._noisy(rows, 0.3, 7, 1), noisy)
    assert (trials._noisy(rows, 0.3, 8, 1) != noisy).any()


def test_equal_rows_have_equal_content_and_others_hardly_ever():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (500, 4)).astype(np.float32)
    ids = np.arange(500)
    numbers = trials._content(rows, ids)
    _, kinds = np.unique(rows, axis=0, return_inverse=True)
    assert len({*zip(kinds.reshape(-1).tolist(), numbers.tolist(), strict=True)}) == kinds.max() + 1
    assert np.unique(numbers).size == kinds.max() + 1
    np.testing.assert_array_equal(trials._content(scipy.sparse.csr_array(rows), ids), numbers)
    np.testing.assert_array_equal(trials._content(np.where(rows == 0, np.float32(-0.0), rows), ids), numbers)
    assert not trials._content(None, ids).any()
