"""How many edges each owner keeps: k, or the share of all edges to the edge."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import Graph, LocalRandom
from lsprune.kernels import Runtime, reference
from lsprune.numeric.random_numbers import OWNER
from lsprune.selection import budget
from lsprune.selection.budget import quotas, split_budget, target_count

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


def test_k_is_the_quota_of_everybody():
    assert quotas(offsets([3, 0, 9]), star_graph([3, 0, 9]), LocalRandom(k=4), Runtime()).tolist() == [4, 4, 4]


def test_graphs_that_are_pooled_share_one_budget():
    degrees, ptr = [6, 6, 1, 1], np.array([0, 2, 4])
    pooled, apart = (
        quotas(offsets(degrees), star_graph(degrees, ptr), LocalRandom(keep=0.5, pooled=pooled), Runtime())
        for pooled in (True, False)
    )
    assert np.minimum(pooled, degrees).sum() == 7
    assert np.minimum(apart, degrees)[:2].sum() == 6 and np.minimum(apart, degrees)[2:].sum() == 1


def test_blocks_of_owners_give_the_same_quotas(monkeypatch):
    degrees = np.random.default_rng(0).integers(0, 12, 200)
    graph, rules = star_graph(degrees), LocalRandom(keep=0.4, seed=2)
    whole = quotas(offsets(degrees), graph, rules, Runtime())
    monkeypatch.setattr(budget, "BLOCK_OWNERS", 7)
    np.testing.assert_array_equal(quotas(offsets(degrees), graph, rules, Runtime()), whole)


@given(st.lists(st.integers(0, 30), max_size=20), st.floats(0.001, 1.0), st.randoms())
@FEW
def test_levels_come_from_how_often_degrees_occur(degrees, keep, random):
    counts = Counter(degrees)
    values = random.sample(sorted(counts), len(counts))
    pair = (np.array(column, np.int64) for column in (values, [counts[value] for value in values]))
    level, left = split_budget(keep, *pair)
    target = int(np.floor(keep * sum(degrees) + 0.5))
    assert level == max(k for k in range(max(degrees, default=0) + 1) if np.minimum(degrees, k).sum() <= target)
    assert np.minimum(degrees, level).sum() + left == target
    assert 0 <= left < max((np.array(degrees) > level).sum(), 1)
