"""Edges and pairs chosen over a whole graph on a device: those of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import any_graph, both, torch

from lsprune import Graph, Random
from lsprune.baselines import DSpar
from lsprune.device.global_choice import smallest
from lsprune.selection.items import smallest as host_smallest


@pytest.mark.parametrize("kind", [Random, DSpar])
@pytest.mark.parametrize("budget", [{"k": 0}, {"k": 3}, {"keep": 0.3}, {"keep": 1.0}])
@pytest.mark.parametrize("symmetric", [None, "union"])
def test_masks_are_those_of_the_host(kind, budget, symmetric):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        graph = any_graph(rng, edges=(0, 5, 300))
        rules = {
            "self_loops": str(rng.choice(["free", "edge", "drop"])), "side": str(rng.choice(["in", "out"])),
            "pooled": bool(rng.integers(2)), "seed": int(rng.integers(4)),
            "symmetric": None if graph.bipartite else symmetric,
        }  # fmt: skip
        host, there = both(kind(**budget, **rules), graph)
        assert host == there, (seed, rules)


def test_each_graph_meets_its_own_share():
    ends = np.array([np.tile(np.arange(5), 8), np.repeat(np.arange(8), 5) % 5])
    several = Graph.from_edges(np.concatenate([ends, ends + 5], 1), num_nodes=10, ptr=[0, 5, 10])
    host, there = both(Random(keep=0.5, self_loops="edge"), several)
    assert host == there and [sum(there[1][:40]), sum(there[1][40:])] == [20, 20]


@pytest.mark.parametrize("graphs", [1, 3])
@pytest.mark.parametrize("values", [2, 1000])
def test_the_smallest_are_marked_by_key_then_draw_then_position(graphs, values):
    rng = np.random.default_rng(values)
    keys, draws = rng.integers(-values, values, 60), rng.integers(0, 2**64, 60, np.uint64)
    draws[::3] = draws[0]
    ends = rng.integers(0, 4, (2, 60))
    member = np.sort(rng.integers(0, graphs, 60))
    there = torch.from_numpy(draws.view(np.int64))
    for share in (0, 0.4, 1, 2):
        counts = np.floor(share * np.bincount(member, minlength=graphs)).astype(np.int64)
        of_item = member if graphs > 1 else np.zeros(0, np.int64)
        of_tensor = torch.from_numpy(member) if graphs > 1 else None
        for by_draws in (False, True):
            host = host_smallest(draws if by_draws else keys, draws, of_item, counts, (ends[0], ends[1]))
            by, both = there if by_draws else torch.from_numpy(keys), tuple(torch.from_numpy(ends))
            found = smallest(by, there, of_tensor, torch.from_numpy(counts), both)
            np.testing.assert_array_equal(found.numpy(), host)
