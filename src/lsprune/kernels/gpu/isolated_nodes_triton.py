"""Mark the neighbours that own no edge in one pass over the slots, and count those that lost all."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

BLOCK = 1024  # slots of one program
COUNT_BLOCK = 4096  # nodes of one program


@triton.jit(do_not_specialize=["count"])
def _mark_kernel(owns, neighbour, taken, count, had, has, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    node = tl.load(neighbour + at, mask=inside, other=0).to(tl.int64)
    kept = tl.load(taken + at, mask=inside, other=0) != 0
    bare = inside & (tl.load(owns + node, mask=inside, other=1) == 0)
    one = tl.full((SIZE,), 1, tl.uint8)
    tl.store(had + node, one, mask=bare)  # several lanes may store the same 1
    tl.store(has + node, one, mask=bare & kept)


@triton.jit(do_not_specialize=["count"])
def _mark_ends_kernel(source, target, mask, count, had, has, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    inside = at < count
    s = tl.load(source + at, mask=inside, other=0).to(tl.int64)
    t = tl.load(target + at, mask=inside, other=0).to(tl.int64)
    real = inside & (s != t)
    kept = real & (tl.load(mask + at, mask=inside, other=0) != 0)
    one = tl.full((SIZE,), 1, tl.uint8)
    tl.store(had + s, one, mask=real)  # several lanes may store the same 1
    tl.store(had + t, one, mask=real)
    tl.store(has + s, one, mask=kept)
    tl.store(has + t, one, mask=kept)


@triton.jit(do_not_specialize=["nodes"])
def _count_kernel(had, has, nodes, total, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    lost = tl.load(had + at, mask=at < nodes, other=0) > tl.load(has + at, mask=at < nodes, other=0)
    count = tl.sum(lost.to(tl.int64), 0)
    if count > 0:
        tl.atomic_add(total, count)


def count_isolated(owns: Tensor, neighbour: Tensor, taken: Tensor) -> Tensor:
    """Return what `kernels.gpu.isolated_nodes.count_isolated` returns; `owns` says which nodes own an edge."""
    nodes, slots = owns.shape[0], taken.shape[0]
    had, has, total = _marks(nodes, owns.device)
    marks = (owns.view(torch.uint8), neighbour, taken.view(torch.uint8))
    launch(_mark_kernel, (-(-slots // BLOCK),), (*marks, slots, had, has), (BLOCK,))
    return _count(had, has, nodes, total)


def count_isolated_ends(source: Tensor, target: Tensor, mask: Tensor, nodes: int) -> Tensor:
    """Return what `kernels.gpu.isolated_nodes.count_isolated_ends` returns, for at least one edge."""
    had, has, total = _marks(nodes, mask.device)
    edges = mask.shape[0]
    arguments = (source.contiguous(), target.contiguous(), mask.contiguous().view(torch.uint8), edges, had, has)
    launch(_mark_ends_kernel, (-(-edges // BLOCK),), arguments, (BLOCK,))
    return _count(had, has, nodes, total)


def _marks(nodes: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return zeros: marks of nodes that had an edge and of those that have one, and the number of isolated nodes."""
    padded = -(-nodes // 8) * 8
    work = torch.zeros(2 * padded + 8, dtype=torch.uint8, device=device)  # one launch for all
    return work[:padded], work[padded : 2 * padded], work[2 * padded :].view(torch.int64)


def _count(had: Tensor, has: Tensor, nodes: int, total: Tensor) -> Tensor:
    launch(_count_kernel, (-(-nodes // COUNT_BLOCK),), (had, has, nodes, total), (COUNT_BLOCK,))
    return total[0]
