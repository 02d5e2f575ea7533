from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor
from gpu_masks import isolated, owners_that_keep_one
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.isolated_nodes_triton import BLOCK, mark_neighbours


@elsewhere
def test_in_the_interpreter():
    run_interpreted(__file__)


@runs
@pytest.mark.parametrize("nodes", [2, 30, BLOCK])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_neighbours_that_own_no_edge_are_marked(nodes, dtype):
    indptr, neighbour, taken = case = owners_that_keep_one(nodes, nodes, dtype)
    had, has = mark_neighbours(*(tensor(array, DEVICE) for array in (np.diff(indptr) > 0, neighbour, taken))).cpu()
    bare = np.diff(indptr) == 0
    assert np.flatnonzero(had).tolist() == [node for node in np.unique(neighbour) if bare[node]]
    assert np.flatnonzero(has).tolist() == [node for node in np.unique(neighbour[taken != 0]) if bare[node]]
    assert int((had > has).sum()) == isolated(*case)


@runs
@pytest.mark.parametrize("kept", [False, True])
def test_taken_may_be_a_mask(kept):
    owns, neighbour = np.array([True, False]), np.array([1, 1])
    marks = mark_neighbours(*(tensor(array, DEVICE) for array in (owns, neighbour, np.array([False, kept]))))
    assert marks.tolist() == [[0, 1], [0, int(kept)]]
