"""Factors that keep the sum over a neighbourhood at its size after pruning, on a device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.graph import Graph, oriented
from lsprune.selection.self_loops import loops_count


def owner_factors(graph: Graph, mask: Tensor, side: str, self_loops: str) -> Tensor:
    """Compute degree / kept edges of the owner of each edge as float32; see `selection.rescale`."""
    source: Any
    source, target = graph.ends()
    owner, owners = oriented(side, source, target)[0].long(), graph.num_owners(side)
    all_count = loops_count(self_loops, bipartite=graph.bipartite)
    real = torch.ones_like(mask) if all_count else source != target
    degree, kept = (
        torch.zeros(owners, dtype=torch.int64, device=mask.device).index_add_(0, owner, which.long())
        for which in (real, real & mask)
    )
    factor = (degree.double() / kept.clamp(min=1).double()).float()
    return torch.where(real, factor[owner], 1.0)
