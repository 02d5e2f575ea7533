from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import Graph, LocalRandom
from lsprune.kernels import Runtime, reference
from lsprune.kernels.mix import OWNER
from lsprune.select import quotas, target_count

FEW = settings(max_examples=60, deadline=None, derandomize=True)


def star_graph(degrees, ptr=None):
    owner = np.repeat(np.arange(len(degrees)), degrees)
    return Graph.from_edges((np.zeros_like(owner), owner), num_nodes=len(degrees), ptr=ptr)


def offsets(degrees):
    return np.append(0, np.cumsum(np.asarray(degrees, np.int64)))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.floats(0.001, 1.0), st.integers(0, 5))
@FEW
def test_budget_is_the_largest_k_and_the_rest_by_hashed_owner(degrees, keep, seed):
    degree = np.array(degrees)
    quota = quotas(offsets(degree), star_graph(degrees), LocalRandom(keep=keep, seed=seed), Runtime())
    target = int(np.floor(keep * degree.sum() + 0.5))
    k = max(k for k in range(32) if np.minimum(k, degree).sum() <= target)
    if k > degree.max():
        k = int(degree.max())
    left = target - int(np.minimum(k, degree).sum())
    start = reference.mix(reference.mix(seed) ^ OWNER)
    order = sorted((u for u in range(len(degrees)) if degrees[u] > k), key=lambda u: (reference.mix(start ^ u), u))
    expected = np.full(len(degrees), k)
    expected[order[:left]] += 1
    np.testing.assert_array_equal(np.minimum(quota, degree), np.minimum(expected, degree))


@given(st.lists(st.lists(st.integers(0, 9), min_size=0, max_size=6), min_size=1, max_size=6), st.floats(0.01, 1.0))
@FEW
def test_budgets_of_several_graphs_are_those_of_each(graphs, keep):
    degrees = np.array([d for graph in graphs for d in graph], int)
    ptr = np.cumsum([0, *(len(graph) for graph in graphs)])
    pruner = LocalRandom(keep=keep, seed=3)
    together = quotas(offsets(degrees), star_graph(degrees, ptr), pruner, Runtime())
    alone = [quotas(offsets(graph), star_graph(graph), pruner, Runtime()) for graph in graphs if graph]
    np.testing.assert_array_equal(
        np.minimum(together, degrees), np.minimum(np.concatenate([*alone, np.empty(0, int)]), degrees)
    )


@pytest.mark.parametrize(
    ("keep", "edges", "target"), [(0.5, 3, 2), (0.5, 4, 2), (0.1, 4, 0), (0.125, 4, 1), (1.0, 7, 7)]
)
def test_target_rounds_half_up(keep, edges, target):
    assert target_count(keep, np.array([edges])).tolist() == [target]


def test_a_share_that_is_nearly_all_needs_many_blocks_of_functions():
    from lsprune import LSP

    rng = np.random.default_rng(0)
    edges = np.stack([rng.integers(1, 400, 300), np.zeros(300, int)])
    graph = Graph.from_edges(edges, num_nodes=400, x=rng.standard_normal((400, 6)))
    mask = LSP(keep=0.9).mask(graph)
    assert mask.sum() == 270
    np.testing.assert_array_equal(mask, LSP(keep=0.9).mask(graph, executor="reference"))
    np.testing.assert_array_equal(mask, LSP(k=270).mask(graph))
