from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_masks import any_ends, isolated, isolated_ends, owners_that_keep_one

from lsprune.kernels.gpu.isolated_nodes import count_isolated, count_isolated_ends


@pytest.mark.parametrize("nodes", [1, 2, 30, 400])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_nodes_without_an_edge_are_counted(nodes, dtype, device):
    counts = []
    for seed in range(5):
        case = owners_that_keep_one(seed, nodes, dtype)
        counts.append(int(count_isolated(*(tensor(array, device) for array in case))))
        assert counts[-1] == isolated(*case)
    assert max(counts) > 0 or nodes < 3


def test_a_node_that_some_owner_keeps_or_that_never_had_an_edge_is_not_isolated(device):
    # Owner 0 keeps one of its two edges to 1 and drops that to 2; no edge leads to 3.
    arrays = np.array([0, 3, 3, 3, 3]), np.array([1, 1, 2]), np.array([0, 1, 0], np.uint8)
    assert int(count_isolated(*(tensor(array, device) for array in arrays))) == 1


def test_no_edges_isolate_nobody(device):
    arrays = np.array([0, 0, 0]), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    assert int(count_isolated(*(tensor(array, device) for array in arrays))) == 0


@pytest.mark.parametrize("nodes", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_any_mask_isolates_the_nodes_of_the_definition(nodes, dtype, device):
    counts = []
    for seed in range(4):
        source, target, mask = case = any_ends(seed, nodes, 3 * nodes + 1, dtype)
        count = count_isolated_ends(*(tensor(array, device) for array in case), nodes)
        counts.append(int(count))
        assert counts[-1] == isolated_ends(source, target, mask, nodes)
    assert max(counts) > 0 or nodes < 3
