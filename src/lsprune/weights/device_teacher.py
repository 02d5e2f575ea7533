"""What a teacher computes over the edges of a graph on a device: the integers of the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.hashing.base import View
from lsprune.kernels.gpu.neighbour_rows import dot_rows, sum_rows


def mean_rows(view: View, rows: Tensor) -> Tensor:
    """Return the mean of the rows of each node and its neighbours, rounded down."""
    owned: Any = view.owned
    sums = sum_rows(owned.owners(0, owned.indptr.shape[0] - 1), owned.neighbour, rows)
    return torch.div(sums, owned.indptr.diff()[:, None] + 1, rounding_mode="floor")


def dot_products(view: View, chances: Tensor) -> Tensor:
    """Return the sum of the products of the rows of both ends, for every slot."""
    owned: Any = view.owned
    return dot_rows(chances, owned.owners(0, owned.indptr.shape[0] - 1), owned.neighbour)


def rows_of_ends(view: View, rows: Tensor, lo: int, hi: int) -> tuple[Tensor, Tensor]:
    """Return the rows of the owners and of the neighbours of the slots lo..hi."""
    owned: Any = view.owned
    slots = torch.arange(lo, hi, device=rows.device)
    owner = torch.searchsorted(owned.indptr, slots, right=True) - 1
    return rows[owner], rows[owned.neighbour[lo:hi].long()]


def joined(parts: list[Tensor]) -> Tensor:
    """Return tensors one after the other."""
    return torch.cat(parts)
