from __future__ import annotations

import numpy as np
import pytest

from lsprune import Graph
from lsprune.baselines import DSpar

#  a hub 0 with leaves 1, 2, 3, and a triangle 3, 4, 5
ENDS = np.array([[0, 0, 0, 3, 4, 5], [1, 2, 3, 4, 5, 3]])


def chances(graph: Graph, degree_of_source: np.ndarray, degree_of_target: np.ndarray) -> np.ndarray:
    source, target = graph.ends()
    weight = 1 / degree_of_source[source] + 1 / degree_of_target[target]
    return weight / weight.sum()


def first_kept(graph: Graph, times: int, **options) -> np.ndarray:
    """How often each edge is the only one that is kept."""
    edges = graph.num_edges
    masks = np.array([DSpar(keep=1 / edges, seed=seed, **options).mask(graph) for seed in range(times)])
    assert (masks.sum(axis=1) == 1).all()
    return masks.mean(axis=0)


def test_the_first_edge_has_a_chance_proportional_to_its_weight():
    graph = Graph.from_edges(ENDS)
    degree = np.array([3, 1, 1, 3, 2, 2])
    expected = chances(graph, degree, degree)
    assert expected.max() > 1.5 * expected.min()
    assert abs(first_kept(graph, 3000) - expected).max() < 0.03  # four standard errors


def test_undirected_graphs_have_the_same_chances_for_pairs():
    both = Graph.from_edges(np.concatenate([ENDS, ENDS[::-1]], axis=1))
    masks = np.array([DSpar(keep=1 / 6, symmetric="union", seed=seed).mask(both) for seed in range(3000)])
    assert (masks[:, :6] == masks[:, 6:]).all()
    degree = np.array([3, 1, 1, 3, 2, 2])
    assert abs(masks[:, :6].mean(axis=0) - chances(Graph.from_edges(ENDS), degree, degree)).max() < 0.03


def test_between_two_kinds_of_nodes_each_has_its_own_degree():
    ends = np.array([[0, 0, 0, 1], [0, 1, 2, 2]])
    graph = Graph.from_edges(ends, num_nodes=(2, 3))
    expected = chances(graph, np.array([3, 1]), np.array([1, 1, 2]))
    assert abs(first_kept(graph, 3000) - expected).max() < 0.035


def test_self_loops_count_where_they_are_edges():
    graph = Graph.from_edges(np.array([[0, 1, 1], [0, 0, 2]]))
    assert DSpar(keep=0.5).mask(graph).tolist()[0]
    assert abs(first_kept(graph, 3000, self_loops="edge") - chances(graph, *[np.array([3, 2, 1])] * 2)).max() < 0.035


@pytest.mark.parametrize("pooled", [False, True])
def test_every_graph_has_its_own_share(pooled):
    edges = np.array([[1, 2, 3, 5, 6], [0, 0, 0, 4, 4]])
    graph = Graph.from_edges(edges, num_nodes=7, ptr=np.array([0, 4, 7]))
    masks = np.array([DSpar(keep=0.5, pooled=pooled, seed=seed).mask(graph) for seed in range(40)])
    assert set(masks.sum(axis=1).tolist()) == {3}
    assert set(masks[:, :3].sum(axis=1).tolist()) == ({2} if not pooled else {1, 2})
