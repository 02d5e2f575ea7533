from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_masks import any_ends, isolated, isolated_ends, owners_that_keep_one
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.isolated_nodes_triton import BLOCK, count_isolated, count_isolated_ends


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("nodes", [2, 30, BLOCK])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_neighbours_that_own_no_edge_and_lost_all_are_counted(nodes, dtype):
    indptr, neighbour, taken = case = owners_that_keep_one(nodes, nodes, dtype)
    count = count_isolated(*(tensor(array, DEVICE) for array in (np.diff(indptr) > 0, neighbour, taken)))
    assert int(count) == isolated(*case)


@runs
@pytest.mark.parametrize("kept", [False, True])
def test_taken_may_be_a_mask(kept):
    owns, neighbour = np.array([True, False]), np.array([1, 1])
    count = count_isolated(*(tensor(array, DEVICE) for array in (owns, neighbour, np.array([False, kept]))))
    assert int(count) == int(not kept)


@runs
@pytest.mark.parametrize("nodes", [1, 3, 40])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_any_mask_isolates_the_nodes_of_the_definition(nodes, dtype):
    counts = []
    for seed in range(4):
        source, target, mask = case = any_ends(seed, nodes, 3 * nodes + 1, dtype)
        count = count_isolated_ends(*(tensor(array, DEVICE) for array in case), nodes)
        counts.append(int(count))
        assert counts[-1] == isolated_ends(source, target, mask, nodes)
    assert max(counts) > 0 or nodes < 3
