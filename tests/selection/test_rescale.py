"""Factors that keep the sums over neighbourhoods at their size."""

from __future__ import annotations

import numpy as np

from graphs import random_graph
from lsprune import Graph, LocalRandom
from lsprune.selection.rescale import owner_factors


def test_rescaled_weights_keep_the_sums():
    graph = random_graph(3, nodes=10, edges=80)
    source, target = graph.ends()
    for side in ("in", "out"):
        mask = LocalRandom(k=3, side=side).mask(graph)
        factors = owner_factors(graph, mask, side)
        real, owner = source != target, target if side == "in" else source
        np.testing.assert_allclose(
            np.bincount(owner[real & mask], weights=factors[real & mask], minlength=10),
            np.bincount(owner[real], minlength=10),
        )
        assert (factors[~real] == 1).all()


def test_self_loops_that_count_are_rescaled_too():
    graph = Graph.from_edges(np.array([[0, 1, 2, 2], [2, 2, 2, 2]]))
    assert owner_factors(graph, np.array([True, False, False, False]), "in", "edge").tolist() == [4, 4, 4, 4]
    assert owner_factors(graph, np.array([True, False, True, True]), "in").tolist() == [2, 2, 1, 1]


def test_between_two_kinds_of_nodes_equal_ids_are_no_self_loops():
    graph = Graph.from_edges(np.array([[0, 1, 1], [0, 0, 1]]), num_nodes=(2, 2))
    mask = np.array([True, False, True])
    assert owner_factors(graph, mask, "in").tolist() == [2, 2, 1]
    assert owner_factors(graph, mask, "out").tolist() == [1, 2, 2]
    assert owner_factors(graph, mask, "in").dtype == np.float32


def test_an_owner_that_keeps_nothing_has_its_degree_as_factor():
    graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]))
    assert owner_factors(graph, np.zeros(3, bool), "in").tolist() == [3, 3, 3]
