from __future__ import annotations

import numpy as np
import pytest
from baselines_helpers import best_of_each, owned_edges

from graphs import random_graph
from lsprune import Graph
from lsprune.baselines import LocalDegree, LowDegree

both = pytest.mark.parametrize(("make", "sign"), [(LowDegree, 1), (LocalDegree, -1)])


@both
@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("loops", [False, True])
def test_the_degree_of_the_neighbour_decides(make, sign, side, loops):
    for seed in range(6):
        graph = random_graph(seed, nodes=14, edges=70)
        other = "out" if side == "in" else "in"
        degree = {u: len(mine) for u, mine in owned_edges(graph, other, loops).items()}
        expected = best_of_each(graph, 3, lambda u, v, e, d=degree: sign * d[v], side, loops, seed=seed)
        pruner = make(k=3, side=side, self_loops="edge" if loops else "free", seed=seed)
        np.testing.assert_array_equal(pruner.mask(graph), expected)


def test_what_a_neighbour_sends_counts_and_not_what_it_receives():
    # 1 and 2 both send to 0; 1 receives three edges, 2 none, but 2 sends four more
    ends = np.array([[1, 2, 3, 4, 5, 2, 2, 2, 2], [0, 0, 1, 1, 1, 6, 7, 8, 9]])
    graph = Graph.from_edges(ends)
    assert LocalDegree(k=1).mask(graph)[:2].tolist() == [False, True]
    assert LowDegree(k=1).mask(graph)[:2].tolist() == [True, False]


@both
def test_between_two_kinds_of_nodes_the_edges_at_the_neighbour_count(make, sign):
    ends = np.array([[0, 1, 1, 1], [0, 0, 1, 2]])  # source 1 has three edges, source 0 one
    graph = Graph.from_edges(ends, num_nodes=(2, 3))
    assert make(k=1).mask(graph).tolist() == [sign == 1, sign == -1, True, True]
    wide = Graph.from_edges(ends[::-1], num_nodes=(3, 2))
    assert make(k=1, side="out").mask(wide).tolist() == [sign == 1, sign == -1, True, True]


@both
def test_equal_degrees_go_by_a_hash_that_the_seed_changes(make, sign):
    star = Graph.from_edges(np.stack([np.arange(1, 40), np.zeros(39, int)]))
    masks = {tuple(make(k=5, seed=seed).mask(star)) for seed in range(6)}
    assert len(masks) == 6
    assert {sum(mask) for mask in masks} == {5}
