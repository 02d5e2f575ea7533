"""Factors of the kept edges on a device: to the bit those of the host."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import any_graph, numpy_of, torch

from lsprune import Graph
from lsprune.device.graph import from_tensors, upload
from lsprune.selection.rescale import owner_factors


@pytest.mark.parametrize("self_loops", ["free", "edge", "drop"])
@pytest.mark.parametrize("side", ["in", "out"])
def test_factors_are_those_of_the_host(side, self_loops):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        graph = any_graph(rng)
        mask = rng.random(graph.num_edges) < 0.3
        found = owner_factors(upload(graph, "cpu"), torch.from_numpy(mask), side, self_loops)
        assert found.dtype == torch.float32
        np.testing.assert_array_equal(numpy_of(found), owner_factors(graph, mask, side, self_loops))


def test_sums_keep_their_size():
    rng = np.random.default_rng(0)
    source, target = torch.from_numpy(rng.integers(0, 9, (2, 200)))
    graph = from_tensors((source, target))
    mask = torch.from_numpy(rng.random(200) < 0.5)
    factors = owner_factors(graph, mask, "in", "edge")
    sums = torch.zeros(9).index_add_(0, target[mask], factors[mask])
    np.testing.assert_allclose(numpy_of(sums), np.bincount(target, minlength=9), rtol=1e-6)


def test_compressed_rows_have_the_factors_of_their_edges():
    pointers, others = np.array([0, 3, 3, 5]), np.array([0, 1, 2, 0, 2])
    mask = np.array([True, False, True, False, True])
    rows = from_tensors(indptr=torch.from_numpy(pointers), indices=torch.from_numpy(others), rows="target", num_nodes=3)
    expected = owner_factors(Graph.from_csr(pointers, others, rows="target"), mask, "in")
    np.testing.assert_array_equal(numpy_of(owner_factors(rows, torch.from_numpy(mask), "in")), expected)
