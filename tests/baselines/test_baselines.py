from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph
from lsprune import PRUNERS, First, Graph, LocalRandom, NoEdges, Random


def complete(nodes: int) -> Graph:
    source, target = np.nonzero(~np.eye(nodes, dtype=bool))
    return Graph.from_edges((source, target), num_nodes=nodes)


@pytest.mark.parametrize("make", [Random, LocalRandom])
def test_every_edge_has_the_same_chance(make):
    graph = complete(8)
    times = np.mean([make(keep=0.25, seed=seed).mask(graph) for seed in range(800)], axis=0)
    assert abs(times - 0.25).max() < 0.09  # five standard errors


def test_random_with_k_keeps_as_many_as_a_local_pruner():
    graph = random_graph(2, nodes=30, edges=300)
    for side in ("in", "out"):
        assert Random(k=3, side=side).mask(graph).sum() == LocalRandom(k=3, side=side).mask(graph).sum()


def test_first_takes_the_callers_order():
    graph = Graph.from_edges(np.array([[5, 3, 4, 1, 2], [0, 0, 0, 1, 0]]), num_nodes=6)
    assert First(k=2, self_loops="edge").mask(graph).tolist() == [True, True, False, True, False]
    assert First(k=2).mask(graph).tolist() == [True, True, False, True, False]
    assert First(k=1, side="out").mask(graph).all()


@pytest.mark.parametrize(
    ("self_loops", "kept"), [("free", [False, True]), ("edge", [False, False]), ("drop", [False, False])]
)
def test_no_edges(self_loops, kept):
    assert NoEdges(self_loops=self_loops).mask(np.array([[0, 1], [1, 1]])).tolist() == kept


def test_neighbourhoods_are_independent():
    # all owners see the same neighbours: local random must not choose the same ones for all (identity hashing would)
    edges = np.stack([np.tile(np.arange(20), 30), np.repeat(np.arange(20, 50), 20)])
    chosen = LocalRandom(k=5).mask(edges).reshape(30, 20)
    assert len({tuple(row) for row in chosen}) == 30


def test_registry_lists_every_method_with_a_line_about_it():
    assert list(PRUNERS) == [
        "lsp", "guarded", "lsp-paper", "random", "local-random", "first", "low-degree", "local-degree", "jaccard",
        "cosine", "top-weight", "dspar", "effective-resistance", "spanning-forest", "no-edges",
    ]  # fmt: skip
    assert all(method.about and method.name == name for name, method in PRUNERS.items())
