"""The metric backbone: shortest distances stay, and no edge of it can be spared."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph, GraphError, OptionError, prune
from lsprune.baselines import MetricBackbone
from lsprune.pruners import from_dict


def lengths(seed: int, nodes: int = 12, edges: int = 60) -> Graph:
    """A graph with self-loops, parallel edges and whole lengths, so that ties are common."""
    rng = np.random.default_rng(seed)
    return Graph.from_edges(
        rng.integers(0, nodes, (2, edges)), num_nodes=nodes, edge_weight=rng.integers(1, 9, edges).astype(float)
    )


def distances(graph: Graph, mask: np.ndarray | None = None) -> np.ndarray:
    """All shortest distances, by Floyd and Warshall."""
    out = np.full((graph.num_nodes, graph.num_nodes), np.inf)
    np.fill_diagonal(out, 0)
    for i, (s, t) in enumerate(zip(*graph.ends(), strict=True)):
        if mask is None or mask[i]:
            out[s, t] = min(out[s, t], graph.edge_weight[i])
    for via in range(graph.num_nodes):
        out = np.minimum(out, out[:, via, None] + out[None, via])
    return out


@pytest.mark.parametrize("seed", range(20))
def test_edges_are_kept_if_and_only_if_they_are_shortest_paths(seed):
    graph = lengths(seed)
    source, target = graph.ends()
    shortest = distances(graph)
    mask = MetricBackbone(self_loops="drop").mask(graph)
    np.testing.assert_array_equal(mask, (graph.edge_weight <= shortest[source, target]) & (source != target))
    np.testing.assert_array_equal(distances(graph, mask), shortest)


def test_scores_are_how_many_times_longer_an_edge_is():
    graph = lengths(3)
    source, target = graph.ends()
    scores, counted = MetricBackbone().scores(graph), source != target
    np.testing.assert_allclose(scores[counted], graph.edge_weight[counted] / distances(graph)[source, target][counted])
    assert np.isnan(scores[~counted]).all()


def test_self_loops():
    graph = lengths(4)
    loops = np.equal(*graph.ends())
    assert loops.any()
    assert MetricBackbone().mask(graph)[loops].all()
    assert not MetricBackbone(self_loops="drop").mask(graph)[loops].any()
    assert not MetricBackbone(self_loops="edge").mask(graph)[loops].any()


def test_similarities_are_turned_into_lengths():
    graph = lengths(5)
    near = Graph.from_edges(np.stack(graph.ends()), num_nodes=12, edge_weight=1 / graph.edge_weight)
    np.testing.assert_array_equal(MetricBackbone(weights="similarity").mask(near), MetricBackbone().mask(graph))


def test_the_order_of_edges_and_blocks_of_searches_do_not_matter(monkeypatch):
    graph = lengths(6, nodes=40, edges=400)
    mask, order = MetricBackbone().mask(graph), np.random.default_rng(0).permutation(400)
    shuffled = Graph.from_edges(np.stack(graph.ends())[:, order], num_nodes=40, edge_weight=graph.edge_weight[order])
    np.testing.assert_array_equal(MetricBackbone().mask(shuffled), mask[order])
    monkeypatch.setattr("lsprune.selection.csgraph._BLOCK_DISTANCES", 100)
    np.testing.assert_array_equal(MetricBackbone().mask(graph), mask)


def test_an_undirected_graph_stays_undirected():
    import networkx as nx

    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 1.0), (0, 2, 5.0)])
    assert set(prune(graph, MetricBackbone()).edges) == {(0, 1), (1, 2)}


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan])
def test_bad_lengths_are_named(wrong):
    graph = Graph.from_edges(np.array([[0, 1], [2, 2]]), edge_weight=np.array([1.0, wrong]))
    with pytest.raises(GraphError, match=f"above 0 for metric-backbone, got {wrong} at edge 1"):
        MetricBackbone().mask(graph)


def test_options():
    pruner = MetricBackbone(column=1, weights="similarity")
    assert from_dict(pruner.to_dict()) == pruner and pruner.with_budget(k=3) == pruner
    with pytest.raises(OptionError, match="weights must be one of 'distance', 'similarity'"):
        MetricBackbone(weights="length")
    assert MetricBackbone().mask(Graph.from_edges(np.zeros((2, 0), int))).shape == (0,)
