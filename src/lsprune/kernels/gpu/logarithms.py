"""Logarithms of integers in fixed point, and keys that are hashes of codes."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import mix64, shift_right
from lsprune.kernels.gpu.triton_support import triton_kernels
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_BITS

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


def log_times(draws: Tensor) -> Tensor:
    """Return log2(-log2 U) in fixed point for draws U * 2^64, int64."""
    return log2_fixed((64 << FRACTION_BITS) - log2_fixed(draws | 1))


def code_keys(codes: Tensor, starts: Tensor, *, log_keys: bool) -> Tensor:
    """Return the keys of codes, `[n, count]` int32: the top bits of splitmix64(starts[z] ^ code), or its log-time.

    Args:
        codes: `[n, 1]` or `[n, count]` int64. starts: `[count]` int64, one for each function.
    """
    kernels = triton_kernels("logarithms_triton", codes.device)
    if kernels is not None and codes.numel():
        result: Tensor = kernels.code_keys(codes, starts, log_keys=log_keys)
        return result
    draws = mix64(starts ^ codes)
    if not log_keys:
        return shift_right(draws, 34).int()
    return (log_times(draws) >> (FRACTION_BITS - LOG_KEY_BITS)).int()
