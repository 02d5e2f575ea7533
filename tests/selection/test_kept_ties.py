"""Ties with the last edge kept: all of them stay, and nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune import Graph, OptionError, PerNode
from lsprune.baselines import LocalDegree, LowDegree, TopWeight
from lsprune.outofcore import prune_stream


def tied(seed: int, edges: int = 200, nodes: int = 15) -> Graph:
    """A graph whose edges have few different weights."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges))
    ends[1, ends[0] == ends[1]] = (ends[1, ends[0] == ends[1]] + 1) % nodes
    return Graph.from_edges(ends, num_nodes=nodes, edge_weight=rng.integers(0, 4, edges))


def plainly(graph: Graph, quota: dict[int, int] | int) -> list[bool]:
    """What stays by the rule: an edge, if fewer than the quota of its owner's edges are heavier."""
    source, target = (end.tolist() for end in graph.ends())
    weight = graph.edge_weight.tolist()
    out = []
    for owner, mine in zip(target, weight, strict=True):
        heavier = sum(w > mine for other, w in zip(target, weight, strict=True) if other == owner)
        out.append(heavier < (quota if isinstance(quota, int) else quota[owner]))
    return out


@given(seed=st.integers(0, 10**6), k=st.integers(0, 6), edges=st.integers(0, 200))
@settings(max_examples=40, deadline=None)
def test_all_edges_tied_with_the_last_one_stay(seed, k, edges):
    graph = tied(seed, edges)
    expected = plainly(graph, k) if k else [False] * edges
    for options in ({}, {"threads": 2}, {"executor": "reference"}):
        np.testing.assert_array_equal(TopWeight(k=k, ties="keep").mask(graph, **options), expected)


def test_with_a_budget_for_each_node():
    graph = tied(1)
    degree = np.bincount(graph.ends()[1], minlength=15)
    expected = plainly(graph, {owner: int(-(-degree[owner] // 4)) for owner in range(15)})
    np.testing.assert_array_equal(TopWeight(budget=PerNode(share=0.25), ties="keep").mask(graph), expected)


def test_more_edges_stay_than_with_a_hash_and_the_order_of_edges_does_not_matter():
    graph = tied(2)
    order = np.random.default_rng(0).permutation(graph.num_edges)
    shuffled = Graph.from_edges(
        np.stack(graph.ends())[:, order], num_nodes=15, edge_weight=np.asarray(graph.edge_weight)[order]
    )
    for make in (TopWeight, LowDegree, LocalDegree):
        mask = make(k=2, ties="keep").mask(graph)
        np.testing.assert_array_equal(make(k=2, ties="keep").mask(shuffled), mask[order])
        by_hash = make(k=2).mask(graph)
        assert mask[by_hash].all() and mask.sum() > by_hash.sum()


@pytest.mark.parametrize("symmetric", [None, "union", "intersection"])
def test_streaming_keeps_the_same_edges(tmp_path, symmetric):
    graph = tied(3, 500)
    weight = np.asarray(graph.edge_weight)[:, None]
    np.savez(tmp_path / "graph.npz", edge_index=np.stack(graph.ends()), edge_attr=weight, num_nodes=15)
    pruner = TopWeight(k=3, ties="keep", symmetric=symmetric)
    prune_stream(tmp_path / "graph.npz", tmp_path / "small.npz", pruner)
    expected = np.stack(graph.ends())[:, pruner.mask(graph)]
    np.testing.assert_array_equal(np.load(tmp_path / "small.npz")["edge_index"], expected)


def test_not_with_keep_and_not_with_weights_that_are_fitted():
    with pytest.raises(OptionError, match='ties must be "hash" with keep'):
        TopWeight(keep=0.5, ties="keep")
    with pytest.raises(OptionError, match="ties must be one of"):
        TopWeight(k=2, ties="position")
    with pytest.raises(OptionError, match='ties must be "hash" with weights that are fitted'):
        TopWeight(k=2, weights="similarity", ties="keep")
