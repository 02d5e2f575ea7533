"""Sums and dot products of the rows of nodes and their neighbours, in integers."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.quantisation import row_chunks, unit_fine

CHUNK_VALUES = 1 << 26  # gathered values held at a time


def slot_chunks(slots: int, columns: int) -> list[tuple[int, int]]:
    """Return ranges of slots whose rows have at most CHUNK_VALUES values."""
    size = max(CHUNK_VALUES // max(columns, 1), 1)
    return [(lo, min(lo + size, slots)) for lo in range(0, slots, size)]


def sum_rows(owner: Tensor, neighbour: Tensor, rows: Tensor) -> Tensor:
    """Return the sum of the rows of each node and of its neighbours, int64; owner `[slots]` and rows `[nodes, c]`."""
    sums = rows.to(torch.int64, copy=True)
    for lo, hi in slot_chunks(owner.shape[0], rows.shape[1]):
        sums.index_add_(0, owner[lo:hi].long(), rows[neighbour[lo:hi].long()].long())
    return sums


def unit_rows(sums: Tensor) -> Tensor:
    """Return L2-normalised rows in 2^-14, `[nodes, c]` int32."""
    out = torch.empty(sums.shape, dtype=torch.int32, device=sums.device)
    for lo, hi in row_chunks(*sums.shape):
        out[lo:hi] = unit_fine(sums[lo:hi].float(), 6)
    return out


def dot_rows(units: Tensor, owner: Tensor, neighbour: Tensor, others: Tensor | None = None) -> Tensor:
    """Return the dot product of the rows of owner and neighbour of each slot, int64.

    Args:
        others: the rows of neighbours, where they are not those of owners.
    """
    others = units if others is None else others
    out = torch.empty(owner.shape[0], dtype=torch.int64, device=units.device)
    for lo, hi in slot_chunks(owner.shape[0], units.shape[1]):
        out[lo:hi] = (units[owner[lo:hi].long()].long() * others[neighbour[lo:hi].long()]).sum(1)
    return out
