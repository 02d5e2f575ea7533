from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import torch

from lsprune.kernels.gpu.constants import MAX_CACHED_BYTES, constant

SMALL = [
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.arange(6, dtype=np.int32).reshape(2, 3).T,
    np.array([0, 2**63, 2**64 - 1], np.uint64),
    np.array([1.5, -0.0, np.inf]),
    np.array([True, False]),
    np.zeros((3, 0), np.float64),
]


@pytest.mark.parametrize("array", SMALL, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_arrays_keep_their_bits_and_shapes(array, device):
    found = constant(array, device)
    assert found.device.type == device.type and tuple(found.shape) == array.shape
    np.testing.assert_array_equal(found.cpu().numpy(), array.view(np.int64) if array.dtype == np.uint64 else array)


def test_equal_arrays_are_uploaded_once(device):
    one, two = (constant(np.arange(5, dtype=np.int32), device) for _ in range(2))
    assert one is two


def test_arrays_with_the_same_bytes_are_told_apart(device):
    zeros = np.zeros(4, np.int32)
    arrays = (zeros, zeros.reshape(2, 2), zeros.view(np.int64), zeros.view(np.float32))
    others = [constant(array, device) for array in arrays]
    assert [(found.dtype, tuple(found.shape)) for found in others] == [
        (torch.int32, (4,)), (torch.int32, (2, 2)), (torch.int64, (2,)), (torch.float32, (4,)),
    ]  # fmt: skip


def test_a_later_change_of_the_array_changes_nothing(device):
    array = np.arange(3)
    found = constant(array, device)
    array[:] = 9
    assert found.tolist() == [0, 1, 2] == constant(np.arange(3), device).tolist()


def test_large_arrays_are_not_kept(device):
    array = np.arange(MAX_CACHED_BYTES // 8 + 1)
    assert constant(array, device) is not constant(array, device)
    np.testing.assert_array_equal(constant(array, device).cpu().numpy(), array)
