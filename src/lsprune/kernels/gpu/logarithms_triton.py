"""Logarithms of integers in Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

BLOCK = 1024  # values of one program


@triton.jit
def _halved(rest, whole, BITS: tl.constexpr):
    """Drop the low bits of values that have more, and count them."""
    large = (rest >> BITS) != 0
    return tl.where(large, rest >> BITS, rest), whole + tl.where(large, BITS, 0)


@triton.jit
def _log2(value):
    """Return log2 * 2^32 of uint64 values, as int64."""
    rest = value
    whole = tl.where(value == 0, -1, 0).to(tl.int64)
    rest, whole = _halved(rest, whole, 32)
    rest, whole = _halved(rest, whole, 16)
    rest, whole = _halved(rest, whole, 8)
    rest, whole = _halved(rest, whole, 4)
    rest, whole = _halved(rest, whole, 2)
    rest, whole = _halved(rest, whole, 1)
    mantissa = (value << tl.minimum(63 - whole, 63).to(tl.uint64)) >> 32
    for _ in range(32):
        mantissa = (mantissa * mantissa) >> 31
        bit = mantissa >> 32
        mantissa = mantissa >> bit
        whole = 2 * whole + bit.to(tl.int64)
    return whole


@triton.jit(do_not_specialize=["count"])
def _log2_kernel(values, out, count, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    value = tl.load(values + at, mask=at < count, other=1).to(tl.uint64, bitcast=True)
    tl.store(out + at, _log2(value), mask=at < count)


def log2_fixed(values: Tensor) -> Tensor:
    """Return what `kernels.gpu.logarithms.log2_fixed` returns."""
    values = values.contiguous()
    out = torch.empty_like(values)
    launch(_log2_kernel, (-(-values.numel() // BLOCK),), (values, out, values.numel()), (BLOCK,))
    return out
