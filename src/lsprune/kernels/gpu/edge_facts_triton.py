"""Facts about edges in one Triton kernel that reads each edge once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch
from lsprune.kernels.gpu.splitmix_triton import mix

BLOCK = 512  # edges that a program reads at a time
PROGRAMS = 2112  # at most: sixteen for each multiprocessor of a large device
_LAST = tl.constexpr(2**63 - 2)  # ids beyond count as this one


@triton.jit(do_not_specialize=["count", "nodes"])
def _facts_kernel(source, target, count, facts, loops_of, nodes, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    low_s = tl.zeros((SIZE,), tl.int64)
    low_t = tl.zeros((SIZE,), tl.int64)
    high_s = tl.zeros((SIZE,), tl.int64)
    high_t = tl.zeros((SIZE,), tl.int64)
    loops = tl.zeros((SIZE,), tl.int32)
    falls_s = tl.zeros((SIZE,), tl.int32)
    falls_t = tl.zeros((SIZE,), tl.int32)
    start = tl.program_id(0).to(tl.int64) * SIZE
    while start < count:  # the interpreter has no range over tensors
        at = start + lane
        inside = at < count
        s = tl.load(source + at, mask=inside, other=-1).to(tl.int64)
        t = tl.load(target + at, mask=inside, other=-1).to(tl.int64)
        before = inside & (at > 0)
        falls_s += (before & (s < tl.load(source + at - 1, mask=before, other=0).to(tl.int64))).to(tl.int32)
        falls_t += (before & (t < tl.load(target + at - 1, mask=before, other=0).to(tl.int64))).to(tl.int32)
        low_s = tl.where(inside, tl.maximum(low_s, -(s >> 1)), low_s)
        low_t = tl.where(inside, tl.maximum(low_t, -(t >> 1)), low_t)
        high_s = tl.maximum(high_s, tl.minimum(s, _LAST) + 1)
        high_t = tl.maximum(high_t, tl.minimum(t, _LAST) + 1)
        loop = inside & (s == t)
        loops += loop.to(tl.int32)
        tl.atomic_add(loops_of + s, 1, mask=loop & (s >= 0) & (s < nodes))
        start += tl.num_programs(0) * SIZE
    tl.atomic_max(facts, tl.max(low_s, 0))
    tl.atomic_max(facts + 1, tl.max(high_s, 0))
    tl.atomic_max(facts + 2, tl.max(low_t, 0))
    tl.atomic_max(facts + 3, tl.max(high_t, 0))
    _add(facts + 4, loops)
    _add(facts + 5, falls_s)
    _add(facts + 6, falls_t)


@triton.jit
def _add(pointer, counts):
    """Add the sum of the counts to a number, unless it is 0."""
    total = tl.sum(counts.to(tl.int64), 0)
    if total > 0:
        tl.atomic_add(pointer, total)


@triton.jit(do_not_specialize=["count"])
def _balance_kernel(source, target, count, total, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    balance = tl.zeros((SIZE,), tl.uint64)
    start = tl.program_id(0).to(tl.int64) * SIZE
    while start < count:
        at = start + lane
        inside = at < count
        s = tl.load(source + at, mask=inside, other=0).to(tl.int64).to(tl.uint64, bitcast=True)
        t = tl.load(target + at, mask=inside, other=0).to(tl.int64).to(tl.uint64, bitcast=True)
        balance += tl.where(inside, mix(mix(s) ^ t) - mix(mix(t) ^ s), 0)
        start += tl.num_programs(0) * SIZE
    tl.atomic_add(total, tl.sum(balance, 0).to(tl.int64, bitcast=True))


@triton.jit(do_not_specialize=["rows", "count"])
def _row_facts_kernel(indptr, other, rows, count, facts, loops_of, SIZE: tl.constexpr):
    """Do the same for compressed rows. An entry is a self-loop if it lies in the row of its own id."""
    lane = tl.arange(0, SIZE)
    low = tl.zeros((SIZE,), tl.int64)
    high = tl.zeros((SIZE,), tl.int64)
    loops = tl.zeros((SIZE,), tl.int32)
    empty = tl.zeros((SIZE,), tl.int32)
    begin = tl.program_id(0).to(tl.int64) * SIZE
    start = begin
    while start < count:
        at = start + lane
        inside = at < count
        t = tl.load(other + at, mask=inside, other=-1).to(tl.int64)
        low = tl.where(inside, tl.maximum(low, -(t >> 1)), low)
        high = tl.maximum(high, tl.minimum(t, _LAST) + 1)
        known = (t >= 0) & (t < rows)
        first = tl.load(indptr + t, mask=known, other=0)
        after = tl.load(indptr + t + 1, mask=known, other=0)
        empty += (known & (first >= after)).to(tl.int32)
        loop = known & (first <= at) & (at < after)
        loops += loop.to(tl.int32)
        tl.atomic_add(loops_of + t, 1, mask=loop)
        start += tl.num_programs(0) * SIZE
    tl.atomic_max(facts, tl.max(low, 0))
    tl.atomic_max(facts + 1, tl.max(high, 0))
    _add(facts + 2, loops)
    _add(facts + 6, empty)
    falls = tl.zeros((SIZE,), tl.int32)
    start = begin
    while start < rows:
        row = start + lane
        here = row < rows
        after = tl.load(indptr + row + 1, mask=here, other=0)
        falls += (after < tl.load(indptr + row, mask=here, other=0)).to(tl.int32)
        start += tl.num_programs(0) * SIZE
    _add(facts + 5, falls)
    if tl.program_id(0) == 0:
        tl.store(facts + 3, tl.load(indptr).to(tl.int64))
        tl.store(facts + 4, tl.load(indptr + rows).to(tl.int64))


def row_facts(indptr: Tensor, other: Tensor, loops_of: Tensor, facts: Tensor) -> None:
    """Count what `kernels.gpu.edge_facts.row_facts` counts, for at least one entry and row."""
    count, rows = other.shape[0], indptr.shape[0] - 1
    launch(_row_facts_kernel, (_programs(count),), (indptr, other, rows, count, facts, loops_of), (BLOCK,))


def _programs(count: int) -> int:
    return min(-(-count // BLOCK), PROGRAMS)


def edge_facts(source: Tensor, target: Tensor, loops_of: Tensor, facts: Tensor) -> None:
    """Count what `kernels.gpu.edge_facts.edge_facts` counts, for at least one edge."""
    count = source.shape[0]
    arguments = (source.contiguous(), target.contiguous(), count, facts, loops_of, loops_of.shape[0])
    launch(_facts_kernel, (_programs(count),), arguments, (BLOCK,))


def reverse_balance(source: Tensor, target: Tensor) -> Tensor:
    """Return what `kernels.gpu.edge_facts.reverse_balance` returns."""
    total, count = torch.zeros((), dtype=torch.int64, device=source.device), source.shape[0]
    arguments = (source.contiguous(), target.contiguous(), count, total)
    launch(_balance_kernel, (_programs(count),), arguments, (BLOCK,))
    return total
