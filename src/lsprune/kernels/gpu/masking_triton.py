"""Masks in Triton: scattered bit by bit, so that the target fits the cache of the device, and compacted by blocks."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

BLOCK = 1024  # slots or edges of one program
COMPACT_BLOCK = 2048
MAX_SHARES = 4096  # programs that share out a mask; each adds up the counts of those before it


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
    slots, edges = taken.shape[0], mask.shape[0]
    launch(_set_bits_kernel, (-(-slots // BLOCK),), (taken.view(torch.uint8), edge, slots, bits), (BLOCK,))
    launch(_spread_bits_kernel, (-(-edges // BLOCK),), (bits, edges, mask.view(torch.uint8)), (BLOCK,))


@triton.jit(do_not_specialize=["count", "share"])
def _count_kernel(mask, count, share, counts, SIZE: tl.constexpr):
    """Count what the mask keeps in each share of entries."""
    start = tl.program_id(0).to(tl.int64) * share
    stop = tl.minimum(start + share, count)
    kept = tl.zeros((SIZE,), tl.int32)
    while start < stop:  # the interpreter has no range over tensors
        at = start + tl.arange(0, SIZE)
        kept += tl.load(mask + at, mask=at < stop, other=0).to(tl.int32)
        start += SIZE
    tl.store(counts + tl.program_id(0), tl.sum(kept.to(tl.int64), 0))


@triton.jit
def _kept_in_earlier_shares(counts, PROGRAMS: tl.constexpr):
    program = tl.arange(0, PROGRAMS)
    return tl.sum(tl.load(counts + program, mask=program < tl.program_id(0), other=0), 0)


@triton.jit(do_not_specialize=["count", "share"])
def _positions_kernel(mask, count, share, counts, positions, SIZE: tl.constexpr, PROGRAMS: tl.constexpr):
    before = _kept_in_earlier_shares(counts, PROGRAMS)
    start = tl.program_id(0).to(tl.int64) * share
    stop = tl.minimum(start + share, count)
    while start < stop:
        at = start + tl.arange(0, SIZE)
        kept = tl.load(mask + at, mask=at < stop, other=0).to(tl.int32)
        tl.store(positions + before + tl.cumsum(kept, 0) - 1, at, mask=kept != 0)
        before += tl.sum(kept, 0)
        start += SIZE


def kept_positions(mask: Tensor, count: int) -> Tensor:
    """Return what `kernels.gpu.masking.kept_positions` returns."""
    positions = torch.empty(count, dtype=torch.int64, device=mask.device)
    _in_shares(_positions_kernel, mask, positions)
    return positions


def _in_shares(kernel: Any, mask: Tensor, out: Tensor) -> None:
    """Count what the mask keeps in shares of entries, then let each share of them write its part of the result."""
    size, bits = mask.shape[0], mask.view(torch.uint8)
    blocks = -(-size // COMPACT_BLOCK)
    share = -(-blocks // MAX_SHARES) * COMPACT_BLOCK
    shares = -(-size // share)
    counts = torch.empty(shares, dtype=torch.int64, device=mask.device)
    launch(_count_kernel, (shares,), (bits, size, share, counts), (COMPACT_BLOCK,))
    launch(kernel, (shares,), (bits, size, share, counts, out), (COMPACT_BLOCK, MAX_SHARES))


@triton.jit(do_not_specialize=["count", "share"])
def _prefix_kernel(mask, count, share, counts, prefix, SIZE: tl.constexpr, PROGRAMS: tl.constexpr):
    before = _kept_in_earlier_shares(counts, PROGRAMS)
    start = tl.program_id(0).to(tl.int64) * share
    stop = tl.minimum(start + share, count)
    while start < stop:
        at = start + tl.arange(0, SIZE)
        kept = tl.load(mask + at, mask=at < stop, other=0).to(tl.int32)
        tl.store(prefix + at, before + tl.cumsum(kept, 0), mask=at < stop)
        before += tl.sum(kept, 0)
        start += SIZE


@triton.jit(do_not_specialize=["count"])
def _before_kernel(prefix, places, count, out, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    place = tl.load(places + at, mask=at < count, other=0)
    kept = tl.load(prefix + place - 1, mask=place > 0, other=0)
    tl.store(out + at, kept, mask=at < count)


def prefix_sums(mask: Tensor) -> Tensor:
    """Return what `kernels.gpu.masking.prefix_sums` returns."""
    size = mask.shape[0]
    prefix = torch.empty(size, dtype=torch.int32 if size < 2**31 else torch.int64, device=mask.device)
    _in_shares(_prefix_kernel, mask, prefix)
    return prefix


def kept_before(prefix: Tensor, places: Tensor) -> Tensor:
    """Return what `kernels.gpu.masking.kept_before` returns."""
    out = torch.empty_like(places)
    count = places.shape[0]
    launch(_before_kernel, (-(-count // BLOCK),), (prefix, places, count, out), (BLOCK,))
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
    arguments = (words, mask.view(torch.uint8), prefix, count, kept, out)
    launch(_compact_kernel, (-(-count // BLOCK), rows), arguments, (BLOCK,))
    return out.view(values.dtype)


_SAME_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
