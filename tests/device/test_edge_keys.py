"""Keys of baselines on a device: those of the host, ids within each graph."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, any_graph, device_run, numpy_of, upload

from lsprune import LocalRandom
from lsprune.device.edge_keys import random_keys
from lsprune.device.owners import group
from lsprune.selection import owners as host_owners


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("seed", [0, 1, -3, 2**63 + 5])
def test_random_keys_are_those_of_the_host(side, seed):
    for number in range(8):
        graph = any_graph(np.random.default_rng(number), edges=(5, 300))
        pruner = LocalRandom(k=1, side=side, seed=seed)
        owned = host_owners.group(graph, pruner, HOST)
        expected = pruner.key_source(graph, owned, HOST).keys(0, 1, 1)
        there = upload(graph, "cpu")
        keys = pruner.key_source(there, group(there, pruner), device_run()).keys(0, 1, 1)
        owners = graph.num_owners(side)
        for lo, hi in ((0, owners), (owners // 3, owners // 2)):
            np.testing.assert_array_equal(numpy_of(keys.of(lo, hi)), expected.of(lo, hi))


def test_keys_are_not_negative_and_differ():
    graph = upload(any_graph(np.random.default_rng(3), edges=(300,)), "cpu")
    keys = random_keys(graph, group(graph, LocalRandom(k=1)), "in", 0)(0, graph.num_owners("in"))
    assert int(keys.min()) >= 0 and len(set(keys.tolist())) > 0.5 * keys.shape[0]
