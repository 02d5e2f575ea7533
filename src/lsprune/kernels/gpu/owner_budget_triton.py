"""The degrees of owners, counted, and their order by hash, in one Triton kernel each."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch
from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE
from lsprune.kernels.gpu.splitmix_triton import mix

COUNT_BLOCK, ORDER_BLOCK = 4096, 1024  # owners of one program


@triton.jit
def _counted_degree(indptr, loops, u, inside, LOOPS: tl.constexpr):
    degree = tl.load(indptr + u + 1, mask=inside, other=0) - tl.load(indptr + u, mask=inside, other=0)
    if LOOPS:
        degree -= tl.load(loops + u, mask=inside, other=0)
    return degree


@triton.jit(do_not_specialize=["owners"])
def _count_kernel(indptr, loops, owners, counts, LOOPS: tl.constexpr, SIZE: tl.constexpr, BINS: tl.constexpr):
    u = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = u < owners
    degree = _counted_degree(indptr, loops, u, inside, LOOPS)
    found = tl.histogram(tl.minimum(degree, BINS - 1).to(tl.int32), BINS)
    place = tl.arange(0, BINS)
    found -= tl.where(place == 0, tl.sum((inside == 0).to(tl.int32), 0), 0)  # lanes beyond the last owner
    tl.atomic_add(counts + place, found.to(tl.int64), mask=found > 0)
    tl.atomic_add(counts + BINS, tl.sum(degree, 0))


def degree_counts(indptr: Tensor, loops: Tensor | None) -> Tensor:
    """Return what `kernels.gpu.owner_budget.degree_counts` returns, for at least one owner."""
    owners = indptr.shape[0] - 1
    counts = torch.zeros(LARGE_DEGREE + 2, dtype=torch.int64, device=indptr.device)
    arguments = (indptr, indptr if loops is None else loops, owners, counts)
    constants = (loops is not None, COUNT_BLOCK, LARGE_DEGREE + 1)
    launch(_count_kernel, (-(-owners // COUNT_BLOCK),), arguments, constants)
    return counts


@triton.jit(do_not_specialize=["owners", "level", "start"])
def _order_kernel(
    indptr, loops, ids, owners, level, start, order, LOOPS: tl.constexpr, NAMED: tl.constexpr, SIZE: tl.constexpr
):
    u = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = u < owners
    degree = _counted_degree(indptr, loops, u, inside, LOOPS)
    number = u.to(tl.int64)
    if NAMED:
        number = tl.load(ids + u, mask=inside, other=0)
    hashed = mix((number ^ tl.cast(start, tl.int64)).to(tl.uint64, bitcast=True))
    signed = (hashed ^ (1 << 63)).to(tl.int64, bitcast=True)  # unsigned order, compared as signed numbers
    tl.store(order + u, tl.where(degree > level, signed, 9223372036854775807), mask=inside)


def hash_order(indptr: Tensor, loops: Tensor | None, level: int, start: int, ids: Tensor | None) -> Tensor:
    """Return what `kernels.gpu.owner_budget.hash_order` returns, for at least one owner."""
    owners = indptr.shape[0] - 1
    order = torch.empty(owners, dtype=torch.int64, device=indptr.device)
    others = (indptr if loops is None else loops, indptr if ids is None else ids.contiguous())
    constants = (loops is not None, ids is not None, ORDER_BLOCK)
    launch(_order_kernel, (-(-owners // ORDER_BLOCK),), (indptr, *others, owners, level, start, order), constants)
    return order
