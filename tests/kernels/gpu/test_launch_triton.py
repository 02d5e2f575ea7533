"""A kernel that was compiled before is launched with other tensors, numbers and constants, and gives what it should."""

from __future__ import annotations

import pytest
from gpu_arrays import torch
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.launch_triton import launch
from lsprune.kernels.gpu.masking_triton import _compact_kernel, _count_kernel


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("size", [16, 64])
def test_counts_are_right_with_other_sizes_offsets_and_constants(size):
    values = (torch.arange(2000, device=DEVICE) % 3 == 0).to(torch.uint8)
    for offset in (0, 1, 16, 0, 1):  # pointers that Triton compiles for, and others
        for count in (1, 16, 100, 1000, 16):
            blocks = -(-count // size)
            counts = torch.zeros(blocks, dtype=torch.int64, device=DEVICE)
            launch(_count_kernel, (blocks,), (values[offset:], count, size, counts), (size,))
            assert int(counts.sum()) == int(values[offset : offset + count].sum())


@runs
def test_the_type_of_a_tensor_decides_what_is_compiled():
    mask = torch.tensor([1, 0, 1, 1], dtype=torch.uint8, device=DEVICE)
    prefix = mask.cumsum(0).int()
    for dtype in (torch.int64, torch.int16, torch.int32, torch.int64, torch.uint8):
        values = torch.tensor([[5, 6, 7, 8], [1, 2, 3, 4]], dtype=dtype, device=DEVICE)
        out = torch.zeros((2, 3), dtype=dtype, device=DEVICE)
        launch(_compact_kernel, (1, 2), (values, mask, prefix, 4, 3, out), (16,))  # a grid of two dimensions
        assert out.tolist() == [[5, 7, 8], [1, 3, 4]]
