"""A random share of all edges, to the edge."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import Graph, LocalRandom, Random


def complete(nodes: int) -> Graph:
    source, target = np.nonzero(~np.eye(nodes, dtype=bool))
    return Graph.from_edges((source, target), num_nodes=nodes)


def test_every_edge_has_the_same_chance():
    graph = complete(8)
    times = np.mean([Random(keep=0.25, seed=seed).mask(graph) for seed in range(800)], axis=0)
    assert abs(times - 0.25).max() < 0.09  # five standard errors


@pytest.mark.parametrize("side", ["in", "out"])
def test_k_means_as_many_edges_as_a_local_pruner_keeps(side):
    graph = random_graph(2, nodes=30, edges=300)
    assert Random(k=3, side=side).mask(graph).sum() == LocalRandom(k=3, side=side).mask(graph).sum()


def test_the_share_of_a_node_is_chance():
    graph = complete(20)
    random, local = (np.bincount(graph.ends()[1][make(keep=0.1).mask(graph)]) for make in (Random, LocalRandom))
    assert random.sum() == local.sum() == 38
    assert local.max() == 2 < random.max()
