from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels import reference
from lsprune.kernels.gpu.masking_triton import (
    BLOCK,
    COMPACT_BLOCK,
    compact,
    kept_before,
    kept_positions,
    prefix_sums,
    scatter_taken,
)


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


def random_mask(size: int, share: float = 0.4) -> np.ndarray:
    return np.random.default_rng(size).random(size) < share


@runs
@pytest.mark.parametrize("size", [1, 31, 32, BLOCK + 40])
@pytest.mark.parametrize(("dtype", "edge_type"), [(np.uint8, np.int64), (bool, np.int32)])
def test_slots_are_written_where_their_edges_are(size, dtype, edge_type):
    rng = np.random.default_rng(size)
    edge, taken = rng.permutation(size + 10)[:size].astype(edge_type), (rng.integers(0, 3, size)).astype(dtype)
    before = np.zeros(size + 10, bool)
    before[np.setdiff1d(np.arange(size + 10), edge)[:5]] = True  # self-loops, which are no slots, stay
    expected, mask = before.copy(), tensor(before, DEVICE)
    reference.scatter_taken(taken, edge, 0, size, expected)
    scatter_taken(tensor(taken, DEVICE), tensor(edge, DEVICE), mask)
    np.testing.assert_array_equal(mask.cpu().numpy(), expected)


@runs
@pytest.mark.parametrize("size", [1, 100, 2 * COMPACT_BLOCK, 2 * COMPACT_BLOCK + 1])
@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_positions_are_those_of_the_mask_in_order(size, share):
    mask = random_mask(size, share)
    found = kept_positions(tensor(mask, DEVICE), int(mask.sum()))
    assert found.dtype == torch.int64 and found.tolist() == np.flatnonzero(mask).tolist()


@runs
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float16, np.uint8, bool, np.complex64])
@pytest.mark.parametrize("shape", [(90,), (2, BLOCK + 90), (2, 3, 90)])
@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_entries_are_kept_along_the_last_dimension(dtype, shape, share):
    values, mask = np.random.default_rng(0).integers(0, 9, shape).astype(dtype), random_mask(shape[-1], share)
    prefix = np.cumsum(mask, dtype=np.int32 if share else np.int64)
    found = compact(tensor(values, DEVICE), tensor(mask, DEVICE), tensor(prefix, DEVICE), int(mask.sum()))
    assert found.cpu().numpy().dtype == dtype
    np.testing.assert_array_equal(found.cpu().numpy(), values[..., mask])


@runs
@pytest.mark.parametrize("size", [1, 2 * COMPACT_BLOCK + 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_kept_entries_are_counted_up_to_and_before_a_place(size, dtype):
    mask = random_mask(size)
    prefix = prefix_sums(tensor(mask, DEVICE))
    assert prefix.tolist() == np.cumsum(mask).tolist()
    places = np.array([0, 0, size // 3, size], dtype)
    found = kept_before(prefix, tensor(places, DEVICE))
    assert found.cpu().numpy().dtype == dtype and found.tolist() == [int(mask[:place].sum()) for place in places]
