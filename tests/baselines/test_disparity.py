"""The disparity filter: p-values by its formula, and the smallest of them kept."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, GraphError, OptionError
from lsprune.baselines import Disparity


def weighted(seed: int = 0, nodes: int = 20, edges: int = 150) -> Graph:
    """A graph without self-loops and parallel edges, with weights."""
    rng = np.random.default_rng(seed)
    ends = np.unique(rng.integers(0, nodes, (2, edges)), axis=1)
    ends = ends[:, ends[0] != ends[1]]
    return Graph.from_edges(ends, num_nodes=nodes, edge_weight=rng.exponential(1, ends.shape[1]))


def plainly(owner, weight):
    """The formula, edge by edge."""
    out = []
    for node, w in zip(owner, weight, strict=True):
        mine = [v for other, v in zip(owner, weight, strict=True) if other == node]
        out.append((1 - w / sum(mine)) ** (len(mine) - 1))
    return out


def test_p_values_follow_the_formula():
    graph = weighted()
    source, target = graph.ends()
    np.testing.assert_allclose(Disparity(keep=0.1).scores(graph), plainly(target, graph.edge_weight), rtol=1e-9)
    out = Disparity(keep=0.1, side="out").scores(graph)
    np.testing.assert_allclose(out, plainly(source, graph.edge_weight), rtol=1e-9)


def test_p_values_are_uniform_if_weights_are_shared_out_at_random():
    rng = np.random.default_rng(1)
    ends = np.stack([np.arange(1, 6).repeat(400), np.zeros(2000, int)])
    ends[1] = 6 + np.tile(np.arange(400), 5)
    cuts = rng.dirichlet(np.ones(5), 400).T.reshape(-1)  # a uniform split of 1 into 5 parts for each owner
    p = Disparity(keep=1).scores(Graph.from_edges(ends, num_nodes=406, edge_weight=cuts))
    for level in (0.05, 0.25, 0.5):
        assert abs((p < level).mean() - level) < 3 * (level * (1 - level) / 2000) ** 0.5 + 0.01


def test_the_smallest_p_values_are_kept_to_the_edge():
    graph = weighted(2)
    p, mask = Disparity(keep=0.3).scores(graph), Disparity(keep=0.3).mask(graph)
    assert mask.sum() == np.floor(0.3 * graph.num_edges + 0.5)
    assert p[mask].max() <= p[~mask].min()


def test_a_pair_has_the_smaller_p_value_of_its_ends():
    graph = weighted(3)
    source, target = graph.ends()
    upper = source < target
    ends, weight = np.stack([source[upper], target[upper]]), np.asarray(graph.edge_weight)[upper]
    both = Graph.from_edges(np.hstack([ends, ends[::-1]]), num_nodes=20, edge_weight=np.tile(weight, 2))
    one_way = Disparity(keep=0.2).scores(both).reshape(2, -1)
    pruner = Disparity(keep=0.2, symmetric="union")
    np.testing.assert_allclose(pruner.scores(both), np.tile(one_way.min(axis=0), 2), rtol=1e-12)
    kept = pruner.mask(both).reshape(2, -1)
    np.testing.assert_array_equal(*kept)
    assert one_way.min(axis=0)[kept[0]].max() <= one_way.min(axis=0)[~kept[0]].min()


def test_hubs_need_more_weight_than_small_nodes():
    # The same share of the weight is more surprising at a node with more edges.
    ends = np.array([[1, 2, 3, 4, 5, 6, 7], [0, 0, 8, 8, 8, 8, 8]])
    p = Disparity(keep=0.5).scores(Graph.from_edges(ends, edge_weight=np.array([1, 1, 4, 1, 1, 1, 1.0])))
    assert p[0] == 0.5 and p[2] == 0.5**4


@pytest.mark.parametrize(
    "options", [{"keep": 0.4}, {"k": 2, "symmetric": "union"}, {"keep": 0.3, "self_loops": "edge"}]
)
def test_executors_orders_and_batches_agree(options):
    rng = np.random.default_rng(5)
    parts = [
        Graph.from_edges(rng.integers(0, 12, (2, 60)), num_nodes=12, edge_weight=rng.integers(1, 50, 60) / 7)
        for _ in range(2)
    ]
    pruner = Disparity(**options)
    for graph in parts:
        mask, order = pruner.mask(graph), rng.permutation(60)
        for more in ({"executor": "reference"}, {"threads": 2}):
            np.testing.assert_array_equal(pruner.mask(graph, **more), mask)
        shuffled = Graph.from_edges(
            np.stack(graph.ends())[:, order], num_nodes=12, edge_weight=np.asarray(graph.edge_weight)[order]
        )
        before, after = (
            sorted(zip(*(end[kept].tolist() for end in one.ends()), strict=True))
            for one, kept in ((graph, mask), (shuffled, pruner.mask(shuffled)))
        )
        assert before == after
    if "symmetric" not in options:  # k counts edges over the whole graph
        both = np.concatenate([pruner.mask(graph) for graph in parts])
        np.testing.assert_array_equal(pruner.mask(Graph.concat(parts)), both)


def test_single_edges_and_weights_of_zero_are_no_surprise():
    graph = Graph.from_edges(np.array([[0, 1, 2], [3, 4, 4]]), edge_weight=np.array([9.0, 0.0, 0.0]))
    assert Disparity(keep=0.5).scores(graph).tolist() == [1, 1, 1]
    assert Disparity(keep=0.5).mask(graph).sum() == 2


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_bad_weights_are_named(wrong):
    graph = Graph.from_edges(np.array([[0, 1], [2, 2]]), edge_weight=np.array([1.0, wrong]))
    with pytest.raises(GraphError, match=f"finite and not negative for disparity, got {wrong} at edge 1"):
        Disparity(keep=0.5).mask(graph)


def test_graphs_without_weights_and_streams_are_refused():
    with pytest.raises(GraphError, match="which disparity needs"):
        Disparity(keep=0.5).mask(np.array([[0, 1], [2, 2]]))
    with pytest.raises(OptionError, match="exactly one of k"):
        Disparity()
    assert Disparity(keep=0.5).needs.scope == "graph"


def test_sums_beyond_the_largest_float_are_no_surprise_either():
    graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]), edge_weight=np.array([1e308, 1e308, 1.0]))
    assert Disparity(keep=1).scores(graph).tolist() == [0.25, 0.25, 1]
