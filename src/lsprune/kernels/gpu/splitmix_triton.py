"""splitmix64 in Triton: the function that other kernels call, and a kernel over a tensor."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

BLOCK = 1024  # values of one program


@triton.jit
def mix(value):
    """Return splitmix64 of uint64 values."""
    value = value + 0x9E3779B97F4A7C15
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB
    return value ^ (value >> 31)


@triton.jit(do_not_specialize=["count"])
def _mix_kernel(values, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    bits = tl.load(values + at, mask=at < count, other=0).to(tl.uint64, bitcast=True)
    tl.store(out + at, mix(bits).to(tl.int64, bitcast=True), mask=at < count)


def mix_values(values: Tensor) -> Tensor:
    """Return splitmix64 of int64 values, whose bits are those of uint64."""
    values = values.contiguous()
    out = torch.empty_like(values)
    launch(_mix_kernel, (-(-values.numel() // BLOCK),), (values, out, values.numel()), (BLOCK,))
    return out
