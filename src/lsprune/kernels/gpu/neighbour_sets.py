"""Comparing the neighbours of two nodes as sets: common members and min-hashes."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.neighbour_rows import slot_chunks

EMPTY_SET_HASH = 2**32 - 1  # min-hash of a node without neighbours; all others have 31 bits
CHUNK_LOOKUPS = 1 << 26  # members looked up at a time


def overlaps(owner: Tensor, neighbour: Tensor, nodes: int, *, closed: bool) -> tuple[Tensor, Tensor]:
    """Return the sizes of intersection and union of the neighbour sets of owner and neighbour, for every slot.

    Args:
        closed: every node is in its own set too.
    """
    pairs = owner * nodes + neighbour
    if closed:
        pairs = torch.cat([pairs, torch.arange(nodes, device=owner.device) * (nodes + 1)])
    pairs = torch.unique(pairs)  # parallel edges count once
    begins = torch.searchsorted(pairs, torch.arange(nodes + 1, device=owner.device) * nodes)
    return count_common(owner, neighbour, pairs, begins, nodes)


def min_rows(owner: Tensor, neighbour: Tensor, table: Tensor) -> Tensor:
    """Return the smallest entry of each column of the table `[nodes, c]` over the neighbours of every node."""
    out = torch.full_like(table, EMPTY_SET_HASH)
    for lo, hi in slot_chunks(owner.shape[0], table.shape[1]):
        at = owner[lo:hi, None].expand(-1, table.shape[1])
        out.scatter_reduce_(0, at, table[neighbour[lo:hi]], "amin")
    return out


def count_equal(rows: Tensor, owner: Tensor, neighbour: Tensor, counts: Tensor) -> None:
    """Add to counts[slot] the number of equal entries in the rows of owner and neighbour."""
    for lo, hi in slot_chunks(owner.shape[0], rows.shape[1]):
        counts[lo:hi] += (rows[owner[lo:hi]] == rows[neighbour[lo:hi]]).sum(1)


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
