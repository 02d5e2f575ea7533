"""Facts about edges in one Triton kernel that reads each edge once."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.constants import constant
from lsprune.kernels.gpu.splitmix_triton import mix

BLOCK = 512  # edges that a program reads at a time
PROGRAMS = 2112  # at most: sixteen for each multiprocessor of a large device


@triton.jit(do_not_specialize=["count", "nodes"])
def _facts_kernel(source, target, count, facts, loops_of, nodes, SIZE: tl.constexpr):
    lane = tl.arange(0, SIZE)
    top: tl.constexpr = 9223372036854775807
    low_s = tl.full((SIZE,), top, tl.int64)
    low_t = tl.full((SIZE,), top, tl.int64)
    high_s = tl.full((SIZE,), -top, tl.int64)
    high_t = tl.full((SIZE,), -top, tl.int64)
    loops = tl.zeros((SIZE,), tl.int32)
    balance = tl.zeros((SIZE,), tl.uint64)
    falls_s = tl.zeros((SIZE,), tl.int32)
    falls_t = tl.zeros((SIZE,), tl.int32)
    start = tl.program_id(0).to(tl.int64) * SIZE
    while start < count:  # the interpreter has no range over tensors
        at = start + lane
        inside = at < count
        s = tl.load(source + at, mask=inside, other=0).to(tl.int64)
        t = tl.load(target + at, mask=inside, other=0).to(tl.int64)
        before = inside & (at > 0)
        falls_s += (before & (s < tl.load(source + at - 1, mask=before, other=0).to(tl.int64))).to(tl.int32)
        falls_t += (before & (t < tl.load(target + at - 1, mask=before, other=0).to(tl.int64))).to(tl.int32)
        low_s = tl.where(inside, tl.minimum(low_s, s), low_s)
        low_t = tl.where(inside, tl.minimum(low_t, t), low_t)
        high_s = tl.where(inside, tl.maximum(high_s, s), high_s)
        high_t = tl.where(inside, tl.maximum(high_t, t), high_t)
        loop = inside & (s == t)
        loops += loop.to(tl.int32)
        tl.atomic_add(loops_of + s, 1, mask=loop & (s >= 0) & (s < nodes))
        us = s.to(tl.uint64, bitcast=True)
        ut = t.to(tl.uint64, bitcast=True)
        balance += tl.where(inside, mix(mix(us) ^ ut) - mix(mix(ut) ^ us), 0)
        start += tl.num_programs(0) * SIZE
    tl.atomic_min(facts, tl.min(low_s, 0))
    tl.atomic_max(facts + 1, tl.max(high_s, 0))
    tl.atomic_min(facts + 2, tl.min(low_t, 0))
    tl.atomic_max(facts + 3, tl.max(high_t, 0))
    tl.atomic_add(facts + 4, tl.sum(loops.to(tl.int64), 0))
    tl.atomic_add(facts + 5, tl.sum(balance, 0).to(tl.int64, bitcast=True))
    tl.atomic_add(facts + 6, tl.sum(falls_s.to(tl.int64), 0))
    tl.atomic_add(facts + 7, tl.sum(falls_t.to(tl.int64), 0))


@triton.jit(do_not_specialize=["rows", "count", "share"])
def _row_facts_kernel(indptr, other, rows, count, share, facts, loops_of, SIZE: tl.constexpr):
    """Do the same for compressed rows: the row of an entry is found by bisection among those of its program.

    A program takes `share` entries in a row.

    After these facts come the first and the last pointer, and the number of pointers that fall.
    """
    lane = tl.arange(0, SIZE)
    top: tl.constexpr = 9223372036854775807
    low_t = tl.full((SIZE,), top, tl.int64)
    high_t = tl.full((SIZE,), -top, tl.int64)
    loops = tl.zeros((SIZE,), tl.int32)
    balance = tl.zeros((SIZE,), tl.uint64)
    start = tl.program_id(0).to(tl.int64) * share
    stop = tl.minimum(start + share, count)
    first = _row_of(indptr, start, rows)
    last = _row_of(indptr, stop - 1, rows)
    while start < stop:
        at = start + lane
        inside = at < stop
        low = tl.zeros((SIZE,), tl.int64) + first
        high = tl.zeros((SIZE,), tl.int64) + last
        width = last - first
        while width > 0:  # the last row that begins at or before the entry
            middle = (low + high + 1) // 2
            begins = tl.load(indptr + middle) <= at
            low = tl.where(begins, middle, low)
            high = tl.where(begins, high, middle - 1)
            width = width // 2
        t = tl.load(other + at, mask=inside, other=0).to(tl.int64)
        low_t = tl.where(inside, tl.minimum(low_t, t), low_t)
        high_t = tl.where(inside, tl.maximum(high_t, t), high_t)
        loop = inside & (low == t)
        loops += loop.to(tl.int32)
        tl.atomic_add(loops_of + low, 1, mask=loop)
        us = low.to(tl.uint64, bitcast=True)
        ut = t.to(tl.uint64, bitcast=True)
        balance += tl.where(inside, mix(mix(us) ^ ut) - mix(mix(ut) ^ us), 0)
        first = tl.max(low, 0)
        start += SIZE
    tl.atomic_min(facts, tl.min(low_t, 0))
    tl.atomic_max(facts + 1, tl.max(high_t, 0))
    tl.atomic_add(facts + 2, tl.sum(loops.to(tl.int64), 0))
    tl.atomic_add(facts + 3, tl.sum(balance, 0).to(tl.int64, bitcast=True))
    falls = tl.zeros((SIZE,), tl.int32)
    start = tl.program_id(0).to(tl.int64) * SIZE
    while start < rows:
        row = start + lane
        here = row < rows
        falls += (tl.load(indptr + row + 1, mask=here, other=0) < tl.load(indptr + row, mask=here, other=0)).to(
            tl.int32
        )
        start += tl.num_programs(0) * SIZE
    tl.atomic_add(facts + 6, tl.sum(falls.to(tl.int64), 0))
    if tl.program_id(0) == 0:
        tl.store(facts + 4, tl.load(indptr).to(tl.int64))
        tl.store(facts + 5, tl.load(indptr + rows).to(tl.int64))


@triton.jit
def _row_of(indptr, entry, rows):
    """Return the row of an entry, a scalar."""
    low = entry * 0
    high = low + rows - 1
    while low < high:
        middle = (low + high + 1) // 2
        begins = tl.load(indptr + middle) <= entry
        low = tl.where(begins, middle, low)
        high = tl.where(begins, high, middle - 1)
    return low


_START = np.array([2**63 - 1, -(2**63), 2**63 - 1, -(2**63), 0, 0, 0, 0])


def row_facts(indptr: Tensor, other: Tensor, loops_of: Tensor) -> Tensor:
    """Return what `kernels.gpu.edge_facts.row_facts` returns, for at least one entry."""
    facts = constant(_START[[0, 1, 4, 5, 6, 6, 6]], other.device).clone()
    count, rows = other.shape[0], indptr.shape[0] - 1
    blocks = triton.cdiv(count, BLOCK)
    share = triton.cdiv(blocks, min(blocks, PROGRAMS)) * BLOCK
    _row_facts_kernel[(triton.cdiv(count, share),)](indptr, other, rows, count, share, facts, loops_of, BLOCK)
    return facts


def edge_facts(source: Tensor, target: Tensor, loops_of: Tensor) -> Tensor:
    """Return what `kernels.gpu.edge_facts` returns, for at least one edge."""
    facts = constant(_START, source.device).clone()
    count = source.shape[0]
    programs = min(triton.cdiv(count, BLOCK), PROGRAMS)
    _facts_kernel[(programs,)](
        source.contiguous(), target.contiguous(), count, facts, loops_of, loops_of.shape[0], BLOCK
    )
    return facts
