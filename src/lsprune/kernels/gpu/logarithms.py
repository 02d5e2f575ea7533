"""Logarithms of integers in fixed point."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import shift_right
from lsprune.kernels.gpu.triton_support import triton_kernels

CHUNK_VALUES = 1 << 22  # values worked on at a time, to bound memory


def log2_fixed(values: Tensor) -> Tensor:
    """Return log2 * 2^32 of int64 values that are read as uint64, rounded down; -2^32 for 0."""
    kernels = triton_kernels("logarithms_triton", values.device)
    if kernels is not None and values.numel():
        result: Tensor = kernels.log2_fixed(values)
        return result
    flat = values.reshape(-1)
    parts = [_log2(flat[lo : lo + CHUNK_VALUES]) for lo in range(0, flat.shape[0], CHUNK_VALUES)]
    return (torch.cat(parts) if parts else values).reshape(values.shape)


def _log2(values: Tensor) -> Tensor:
    whole, rest = torch.where(values == 0, -1, 0), values
    for bits in (32, 16, 8, 4, 2, 1):
        large = shift_right(rest, bits) != 0
        rest = torch.where(large, shift_right(rest, bits), rest)
        whole = whole + bits * large
    mantissa = shift_right(values << (63 - whole).clamp(max=63), 32)
    for _ in range(32):
        mantissa = shift_right(mantissa * mantissa, 31)
        bit = mantissa >> 32
        mantissa = mantissa >> bit
        whole = 2 * whole + bit
    return whole
