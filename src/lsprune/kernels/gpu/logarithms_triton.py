"""Logarithms of integers, and keys that are hashes of codes, in Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.splitmix_triton import mix
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_BITS

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


@triton.jit(do_not_specialize=["count", "width"])
def _code_keys_kernel(
    codes, starts, out, count, width, LOG: tl.constexpr, SINGLE: tl.constexpr,
    FRACTION: tl.constexpr, KEPT: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    place = at
    if SINGLE:
        place = at // width
    code = tl.load(codes + place, mask=inside, other=0).to(tl.uint64, bitcast=True)
    start = tl.load(starts + at % width, mask=inside, other=0).to(tl.uint64, bitcast=True)
    value = mix(start ^ code)
    if LOG:
        minus_log = (64 << FRACTION) - _log2(value | 1)
        key = _log2(minus_log.to(tl.uint64, bitcast=True)) >> (FRACTION - KEPT)
    else:
        key = (value >> 34).to(tl.int64)
    tl.store(out + at, key.to(tl.int32), mask=inside)


def log2_fixed(values: Tensor) -> Tensor:
    """Return what `kernels.gpu.logarithms.log2_fixed` returns."""
    values = values.contiguous()
    out = torch.empty_like(values)
    _log2_kernel[(triton.cdiv(values.numel(), BLOCK),)](values, out, values.numel(), BLOCK)
    return out


def code_keys(codes: Tensor, starts: Tensor, *, log_keys: bool) -> Tensor:
    """Return what `kernels.gpu.logarithms.code_keys` returns."""
    width = starts.shape[0]
    out = torch.empty((codes.shape[0], width), dtype=torch.int32, device=codes.device)
    _code_keys_kernel[(triton.cdiv(out.numel(), BLOCK),)](
        codes.contiguous(), starts, out, out.numel(), width, log_keys, codes.shape[1] == 1 and width > 1,
        FRACTION_BITS, LOG_KEY_BITS, BLOCK,
    )  # fmt: skip
    return out
