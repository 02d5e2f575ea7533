"""Count the common members of the neighbour sets of two nodes."""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK_LOOKUPS = 1 << 26  # members looked up at a time


def count_common(owner: Tensor, neighbour: Tensor, pairs: Tensor, begins: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    """Return the sizes of intersection and union of the sets of owner and neighbour, int64 for every slot.

    Args:
        pairs: node * nodes + member for all members of all sets, ascending. begins: `[nodes + 1]` where a node's begin.
    """
    sizes = begins.diff()
    smaller = torch.where(sizes[owner] <= sizes[neighbour], owner, neighbour)
    larger = owner + neighbour - smaller
    work = sizes[smaller]
    common = torch.zeros_like(owner)
    for lo, hi in _chunks(work):
        total = work[lo:hi]
        slot = torch.repeat_interleave(total)
        place = torch.arange(slot.shape[0], device=slot.device) - (total.cumsum(0) - total)[slot]
        member = pairs[begins[smaller[lo:hi][slot]] + place] % nodes
        wanted = larger[lo:hi][slot] * nodes + member
        at = torch.searchsorted(pairs, wanted).clamp(max=pairs.shape[0] - 1)
        common[lo:hi].index_add_(0, slot, (pairs[at] == wanted).long())
    return common, sizes[owner] + sizes[neighbour] - common


def _chunks(work: Tensor) -> list[tuple[int, int]]:
    """Return ranges of slots with about CHUNK_LOOKUPS lookups each."""
    if not work.numel():
        return []
    ends = work.cumsum(0)
    total = int(ends[-1])
    marks = torch.arange(CHUNK_LOOKUPS, max(total, CHUNK_LOOKUPS), CHUNK_LOOKUPS, device=work.device)
    cuts = [0, *torch.searchsorted(ends, marks).tolist(), work.shape[0]]
    return [(lo, hi) for lo, hi in zip(cuts[:-1], cuts[1:], strict=True) if hi > lo]
