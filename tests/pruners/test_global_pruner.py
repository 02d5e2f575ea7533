"""Pruners that choose over the whole graph, to the exact share."""

from __future__ import annotations

import numpy as np

from graphs import random_graph
from lsprune import LocalRandom, Random
from lsprune.pruners import PRUNERS
from lsprune.pruners.global_pruner import GlobalPruner

WHOLE = [method for method in PRUNERS.values() if issubclass(method, GlobalPruner)]


def test_k_is_as_many_edges_as_a_local_pruner_keeps():
    graph = random_graph(2, nodes=30, edges=300)
    for method in WHOLE:
        for side in ("in", "out"):
            assert method(k=3, side=side).mask(graph).sum() == LocalRandom(k=3, side=side).mask(graph).sum()


def test_union_and_intersection_are_the_same():
    graph = random_graph(2, nodes=30, edges=300)
    for method in WHOLE:
        masks = [method(keep=0.4, symmetric=mode).mask(graph) for mode in ("union", "intersection")]
        np.testing.assert_array_equal(*masks)


def test_no_two_methods_are_the_same():
    graph = random_graph(2, nodes=30, edges=300)
    assert Random in WHOLE
    assert len({tuple(method(keep=0.1).mask(graph)) for method in WHOLE}) == len(WHOLE) == 4
