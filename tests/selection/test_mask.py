"""Masks in the caller's order of edges, and the nodes that they isolate."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import LSP, Graph, LocalRandom
from lsprune.kernels import runtime
from lsprune.selection.mask import outcome, owners_outcome, to_mask
from lsprune.selection.owners import group

RUN = runtime(2)


def isolated(graph: Graph, mask: np.ndarray) -> int:
    """Nodes with an edge to another node of which none is kept, by the definition."""
    source, target = graph.ends()
    real = source != target
    had, has = (set(source[some].tolist()) | set(target[some].tolist()) for some in (real, real & mask))
    return len(had - has)


@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_nodes_left_without_an_edge_are_counted(executor):
    run = runtime(2, executor)
    edges = np.array([[0, 1, 2, 3], [4, 4, 4, 4]])
    graph = Graph.from_edges(edges, num_nodes=9)
    assert outcome(graph, np.array([True, False, True, False]), run).isolated == 2
    assert outcome(graph, np.ones(4, bool), run).isolated == 0
    for seed in range(5):
        graph = random_graph(seed, nodes=30, edges=60)
        mask = np.random.default_rng(seed).random(60) < 0.3
        assert outcome(graph, mask, run).isolated == isolated(graph, mask) > 0


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("side", ["in", "out"])
def test_what_slots_got_is_a_mask_and_as_many_isolated_nodes(self_loops, side):
    graph = random_graph(1, nodes=30, edges=90)
    rules = LocalRandom(k=1, side=side, self_loops=self_loops)
    owned = group(graph, rules, RUN)
    taken = (np.random.default_rng(0).random(owned.neighbour.size) < 0.3).astype(np.uint8)
    found = owners_outcome(graph, owned, taken, self_loops, RUN)
    expected = np.full(90, self_loops == "free")
    expected[owned.edges(0, owned.neighbour.size)] = taken
    np.testing.assert_array_equal(found.mask, expected)
    assert found.isolated == isolated(graph, expected)


def test_a_quota_says_who_keeps_something():
    graph = random_graph(1, nodes=30, edges=90)
    owned = group(graph, LocalRandom(k=1), RUN)
    quota = np.random.default_rng(0).integers(0, 3, 30)
    taken = np.concatenate([np.arange(degree) < quota[i] for i, degree in enumerate(np.diff(owned.indptr))])
    with_quota, without = (owners_outcome(graph, owned, taken.astype(np.uint8), "free", RUN, q) for q in (quota, None))
    assert with_quota.isolated == without.isolated == isolated(graph, without.mask)


def test_between_two_kinds_of_nodes_nobody_is_counted():
    graph = Graph.from_edges(np.array([[0, 1], [0, 0]]), num_nodes=(2, 1))
    assert outcome(graph, np.zeros(2, bool), RUN).isolated == 0
    owned = group(graph, LSP(k=1), RUN)
    assert owners_outcome(graph, owned, np.zeros(2, np.uint8), "free", RUN).isolated == 0


def test_compressed_rows_need_no_reordering():
    graph = Graph.from_csr(np.array([0, 2, 3]), np.array([1, 0, 1]), rows="target")
    owned = group(graph, LocalRandom(k=1, self_loops="edge"), RUN)
    assert owned.edge is None
    assert to_mask(graph, owned, np.array([1, 0, 1], np.uint8), "edge", RUN).tolist() == [True, False, True]
