from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu.masking import compact, kept_before, kept_positions, prefix_sums, scatter_taken


def random_mask(size: int, share: float = 0.4) -> np.ndarray:
    return np.random.default_rng(size).random(size) < share


@pytest.mark.parametrize("size", [0, 1, 31, 1000])
@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_slots_are_written_where_their_edges_are(size, dtype, device):
    rng = np.random.default_rng(size)
    edge, taken = rng.permutation(size + 10)[:size], (rng.integers(0, 3, size)).astype(dtype)
    before = np.zeros(size + 10, bool)
    before[np.setdiff1d(np.arange(size + 10), edge)[:5]] = True  # self-loops, which are no slots, stay
    expected, mask = before.copy(), tensor(before, device)
    reference.scatter_taken(taken, edge, 0, size, expected)
    scatter_taken(tensor(taken, device), tensor(edge, device), mask)
    np.testing.assert_array_equal(mask.cpu().numpy(), expected)


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_positions_are_those_of_the_mask_in_order(size, share, device):
    mask = random_mask(size, share)
    found = kept_positions(tensor(mask, device), int(mask.sum()))
    assert found.dtype == torch.int64 and found.tolist() == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float16, np.uint8, bool, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(90,), (2, 90), (2, 3, 90), (0, 90)])
def test_entries_are_kept_along_the_last_dimension(dtype, shape, device):
    values, mask = np.random.default_rng(0).integers(0, 9, shape).astype(dtype), random_mask(90)
    found = compact(tensor(values, device), tensor(mask, device), tensor(np.cumsum(mask), device), int(mask.sum()))
    assert found.cpu().numpy().dtype == dtype
    np.testing.assert_array_equal(found.cpu().numpy(), values[..., mask])


def test_values_may_lie_apart_in_memory_and_be_none(device):
    values, mask = np.arange(180).reshape(90, 2), random_mask(90)
    prefix = tensor(np.cumsum(mask), device)
    found = compact(tensor(values, device).t(), tensor(mask, device), prefix, int(mask.sum()))
    np.testing.assert_array_equal(found.cpu().numpy(), values.T[:, mask])
    none = tensor(np.zeros((2, 0)), device)
    assert compact(none, none[0].bool(), none[0].long(), 0).shape == (2, 0)


@pytest.mark.parametrize("size", [0, 1, 5000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_kept_entries_are_counted_up_to_and_before_a_place(size, dtype, device):
    mask = np.random.default_rng(size).random(size) < 0.4
    prefix = prefix_sums(tensor(mask, device))
    assert prefix.tolist() == np.cumsum(mask).tolist()
    places = np.array([0, 0, size // 3, size], dtype)
    found = kept_before(prefix, tensor(places, device))
    assert found.cpu().numpy().dtype == dtype and found.tolist() == [int(mask[:place].sum()) for place in places]
