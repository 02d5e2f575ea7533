"""Symmetric masks on a device: the pairs of the host, parallel edges included."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import both, device_run, numpy_of, torch

from lsprune import LSP, Graph, LocalRandom
from lsprune.device.graph import upload
from lsprune.device.pairs import Pairs, known_ranks, lexsort, pair_ranks, pair_up
from lsprune.selection import pairs as host_pairs
from lsprune.selection.choose import NEVER


def ends(seed: int, nodes: int = 9, edges: int = 70) -> tuple[np.ndarray, np.ndarray]:
    """Few nodes, so that there are many parallel edges and self-loops."""
    source, target = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    return source, target


def test_order_is_that_of_numpy():
    rng = np.random.default_rng(0)
    keys = [rng.integers(0, 4, 200) for _ in range(3)]
    np.testing.assert_array_equal(numpy_of(lexsort(*map(torch.from_numpy, keys))), np.lexsort(keys))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("edges", [0, 1, 70])
def test_pairs_are_those_of_the_host(seed, edges):
    owner, neighbour = ends(seed, edges=edges)
    here = host_pairs.pair_up(owner, neighbour, 9)
    there = pair_up(torch.from_numpy(owner), torch.from_numpy(neighbour), 9)
    rank = np.random.default_rng(seed).integers(0, 5, edges)
    rank_here, rank_there = host_pairs.known_ranks(rank), known_ranks(torch.from_numpy(rank))
    np.testing.assert_array_equal(numpy_of(rank_there), rank_here)
    assert not edges or (rank_here == NEVER).any() == (rank == 0).any()
    for one, other in ((here, there), (here.by_rank(rank_here), there.by_rank(rank_there))):
        assert other.count == one.count
        for name in ("of_slot", "several", "first_pair", "back"):
            np.testing.assert_array_equal(numpy_of(getattr(other, name)), getattr(one, name))
    for mode in ("union", "intersection"):
        expected = host_pairs.pair_ranks(here, rank_here, mode)
        np.testing.assert_array_equal(numpy_of(pair_ranks(there, rank_there, mode)), expected)
    kept = np.random.default_rng(seed + 9).integers(0, 2, here.count).astype(bool)
    undecided = there.undecided(rank_there, torch.from_numpy(kept))
    np.testing.assert_array_equal(np.sort(numpy_of(undecided)), np.sort(here.undecided(rank_here, kept)))


@pytest.mark.parametrize("mode", ["union", "intersection"])
@pytest.mark.parametrize("budget", [{"k": 0}, {"k": 2}, {"k": 20}, {"keep": 0.1}, {"keep": 0.5}, {"keep": 0.95}])
@pytest.mark.parametrize("make", [LSP, LocalRandom])
def test_masks_are_those_of_the_host(make, budget, mode):
    for seed in range(4):
        source, target = ends(seed)
        x = np.random.default_rng(seed).standard_normal((9, 3)).astype(np.float32)
        both_ways = np.concatenate([source, target]), np.concatenate([target, source])
        ptr = None if seed % 2 else np.array([0, 9])
        graph = Graph.from_edges(both_ways, num_nodes=9, x=x, ptr=ptr)
        host, device = both(make(**budget, symmetric=mode, self_loops="edge" if seed > 1 else "free"), graph)
        assert device == host


@pytest.mark.parametrize("mode", ["union", "intersection"])
def test_parallel_edges_that_no_step_took_go_with_their_partners(mode, monkeypatch):
    rng, slots, undecided = np.random.default_rng(5), [], Pairs.undecided
    monkeypatch.setattr(Pairs, "undecided", lambda *args: slots.append(undecided(*args)) or slots[-1])
    for seed in range(6):
        parallel = rng.integers(0, 4, (2, 60))
        graph = Graph.from_edges(parallel, num_nodes=4, edge_attr=rng.standard_normal((60, 2)))
        for k in (1, 3, 6):
            host, device = both(LSP(k=k, seed=seed, symmetric=mode), graph)
            assert device == host
    assert any(found.numel() for found in slots) == (mode == "union")


def test_an_edge_and_its_reverse_share_their_fate():
    source, target = np.nonzero(~np.eye(12, dtype=bool))
    graph = Graph.from_edges((source, target), x=np.random.default_rng(0).standard_normal((12, 3)))
    for mode in ("union", "intersection"):
        mask = numpy_of(LSP(k=3, symmetric=mode).mask_graph(upload(graph, "cpu"), device_run()).mask)
        kept = set(zip(source[mask].tolist(), target[mask].tolist(), strict=True))
        assert 0 < len(kept) < mask.size and kept == {(t, s) for s, t in kept}


def test_graphs_that_are_undirected_are_always_symmetric():
    source, target = ends(1)
    graph = Graph.from_edges(
        (np.concatenate([source, target]), np.concatenate([target, source])), num_nodes=9, undirected=True
    )
    host, device = both(LSP(k=2, hash="identity"), graph)
    assert device == host
