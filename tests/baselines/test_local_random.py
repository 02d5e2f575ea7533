"""k random neighbours of each owner, whatever the order of edges."""

from __future__ import annotations

import numpy as np

from graphs import kept_edges, random_graph, reordered
from lsprune import Graph, LocalRandom


def complete(nodes: int) -> Graph:
    source, target = np.nonzero(~np.eye(nodes, dtype=bool))
    return Graph.from_edges((source, target), num_nodes=nodes)


def test_every_edge_has_the_same_chance():
    graph = complete(8)
    times = np.mean([LocalRandom(keep=0.25, seed=seed).mask(graph) for seed in range(800)], axis=0)
    assert abs(times - 0.25).max() < 0.09  # five standard errors


def test_neighbourhoods_are_independent():
    # all owners see the same neighbours: local random must not choose the same ones for all (identity hashing would)
    edges = np.stack([np.tile(np.arange(20), 30), np.repeat(np.arange(20, 50), 20)])
    chosen = LocalRandom(k=5).mask(edges).reshape(30, 20)
    assert len({tuple(row) for row in chosen}) == 30


def test_the_same_edges_are_kept_in_any_order_and_others_with_another_seed():
    graph = random_graph(1, nodes=20, edges=200)
    shuffled = reordered(graph, np.random.default_rng(0).permutation(200))
    assert kept_edges(graph, LocalRandom(k=3).mask(graph)) == kept_edges(shuffled, LocalRandom(k=3).mask(shuffled))
    assert (LocalRandom(k=3).mask(graph) != LocalRandom(k=3, seed=1).mask(graph)).any()


def test_keys_need_both_ids_and_nothing_else():
    needs = LocalRandom(k=3).needs
    assert needs.owner_id and not needs.by_neighbour
    assert not (needs.owner or needs.neighbour or needs.edge or needs.degree or needs.position)
