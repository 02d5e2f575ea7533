"""Masks in Triton: scattered bit by bit, so that the target fits the cache of the device, and compacted by blocks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 1024  # slots or edges of one program
COMPACT_BLOCK = 4096


@triton.jit(do_not_specialize=["count"])
def _set_bits_kernel(taken, edge, count, bits, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    kept = inside & (tl.load(taken + at, mask=inside, other=0) != 0)
    place = tl.load(edge + at, mask=kept, other=0).to(tl.int64)
    bit = (place * 0 + 1).to(tl.int32) << (place & 31).to(tl.int32)
    tl.atomic_or(bits + (place >> 5), bit, mask=kept, sem="relaxed")


@triton.jit(do_not_specialize=["count"])
def _spread_bits_kernel(bits, count, mask, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    word = tl.load(bits + (at >> 5), mask=inside, other=0)
    kept = (word >> (at & 31).to(tl.int32)) & 1
    before = tl.load(mask + at, mask=inside, other=0)
    tl.store(mask + at, before | kept.to(tl.uint8), mask=inside)


def scatter_taken(taken: Tensor, edge: Tensor, mask: Tensor) -> None:
    """Set mask[edge[slot]] to True where the slot is taken; the mask is False at all edges of slots before."""
    bits = torch.zeros(-(-mask.shape[0] // 32), dtype=torch.int32, device=mask.device)
    _set_bits_kernel[(triton.cdiv(taken.shape[0], BLOCK),)](taken.view(torch.uint8), edge, taken.shape[0], bits, BLOCK)
    _spread_bits_kernel[(triton.cdiv(mask.shape[0], BLOCK),)](bits, mask.shape[0], mask.view(torch.uint8), BLOCK)


@triton.jit(do_not_specialize=["count"])
def _count_kernel(mask, count, counts, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    kept = tl.load(mask + at, mask=at < count, other=0).to(tl.int32)
    tl.store(counts + tl.program_id(0), tl.sum(kept, 0).to(tl.int64))


@triton.jit(do_not_specialize=["count"])
def _positions_kernel(mask, count, ends, positions, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    kept = tl.load(mask + at, mask=at < count, other=0).to(tl.int32)
    total = tl.sum(kept, 0)
    place = tl.load(ends + tl.program_id(0)) - total + tl.cumsum(kept, 0) - 1
    tl.store(positions + place, at, mask=kept != 0)


def kept_positions(mask: Tensor, count: int) -> Tensor:
    """Return what `kernels.gpu.masking.kept_positions` returns."""
    size, bits = mask.shape[0], mask.view(torch.uint8)
    blocks = triton.cdiv(size, COMPACT_BLOCK)
    counts = torch.empty(blocks, dtype=torch.int64, device=mask.device)
    positions = torch.empty(count, dtype=torch.int64, device=mask.device)
    _count_kernel[(blocks,)](bits, size, counts, COMPACT_BLOCK)
    _positions_kernel[(blocks,)](bits, size, counts.cumsum(0), positions, COMPACT_BLOCK)
    return positions


@triton.jit(do_not_specialize=["count"])
def _prefix_kernel(mask, count, ends, prefix, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    kept = tl.load(mask + at, mask=at < count, other=0).to(tl.int32)
    place = tl.load(ends + tl.program_id(0)) - tl.sum(kept, 0) + tl.cumsum(kept, 0)
    tl.store(prefix + at, place, mask=at < count)


@triton.jit(do_not_specialize=["count"])
def _before_kernel(prefix, places, count, out, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    place = tl.load(places + at, mask=at < count, other=0)
    kept = tl.load(prefix + place - 1, mask=place > 0, other=0)
    tl.store(out + at, kept, mask=at < count)


def prefix_sums(mask: Tensor) -> Tensor:
    """Return what `kernels.gpu.masking.prefix_sums` returns."""
    size, bits = mask.shape[0], mask.view(torch.uint8)
    blocks = triton.cdiv(size, COMPACT_BLOCK)
    counts = torch.empty(blocks, dtype=torch.int64, device=mask.device)
    prefix = torch.empty(size, dtype=torch.int32 if size < 2**31 else torch.int64, device=mask.device)
    _count_kernel[(blocks,)](bits, size, counts, COMPACT_BLOCK)
    _prefix_kernel[(blocks,)](bits, size, counts.cumsum(0), prefix, COMPACT_BLOCK)
    return prefix


def kept_before(prefix: Tensor, places: Tensor) -> Tensor:
    """Return what `kernels.gpu.masking.kept_before` returns."""
    out = torch.empty_like(places)
    _before_kernel[(triton.cdiv(places.shape[0], BLOCK),)](prefix, places, places.shape[0], out, BLOCK)
    return out


@triton.jit(do_not_specialize=["count", "kept"])
def _compact_kernel(values, mask, prefix, count, kept, out, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    row = tl.program_id(1).to(tl.int64)
    inside = (at < count) & (tl.load(mask + at, mask=at < count, other=0) != 0)
    place = tl.load(prefix + at, mask=inside, other=1).to(tl.int64) - 1
    value = tl.load(values + row * count + at, mask=inside)
    tl.store(out + row * kept + place, value, mask=inside)


def compact(values: Tensor, mask: Tensor, prefix: Tensor, kept: int) -> Tensor:
    """Return what `kernels.gpu.masking.compact` returns, for contiguous values of 1, 2, 4 or 8 bytes."""
    words = values.view(_SAME_SIZE[values.element_size()])
    out = torch.empty((*values.shape[:-1], kept), dtype=words.dtype, device=values.device)
    count, rows = values.shape[-1], values.numel() // max(values.shape[-1], 1)
    _compact_kernel[(triton.cdiv(count, BLOCK), rows)](words, mask.view(torch.uint8), prefix, count, kept, out, BLOCK)
    return out.view(values.dtype)


_SAME_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
