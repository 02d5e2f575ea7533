"""What must be known of a list of edges before it is grouped, in one pass and one transfer to the host."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import mix64
from lsprune.kernels.gpu.triton_support import triton_kernels

COUNT = 8  # numbers in a tensor of facts


@dataclass(frozen=True)
class EdgeFacts:
    """Facts about edges; `by_source` and `by_target` say whether they are sorted by that end."""

    lowest_source: int
    highest_source: int
    lowest_target: int
    highest_target: int
    loops: int
    balance: int  # 0 if every edge has its reverse (wrong with probability 2^-64)
    falls_source: int  # edges whose source is less than that of the edge before
    falls_target: int

    @property
    def by_source(self) -> bool:
        return self.falls_source == 0

    @property
    def by_target(self) -> bool:
        return self.falls_target == 0


def row_facts(indptr: Tensor, other: Tensor, loops_of: Tensor) -> Tensor:
    """Return what must be known of compressed rows, int64.

    These are the lowest and the highest id, self-loops and balance of the entries as in EdgeFacts, then the first and
    the last pointer, and the number of pointers that fall.
    The self-loops of each row are added to `loops_of`.
    Entries beyond the last pointer are taken to be in the last row, so that broken pointers do no harm here.
    """
    rows = indptr.shape[0] - 1
    kernels = triton_kernels("edge_facts_triton", other.device)
    if kernels is not None and other.shape[0] and rows > 0:
        facts: Tensor = kernels.row_facts(indptr, other, loops_of)
        return facts
    entry = torch.arange(other.shape[0] if rows > 0 else 0, device=other.device)
    row = (torch.searchsorted(indptr.contiguous(), entry, right=True) - 1).clamp(0, max(rows - 1, 0))
    both = edge_facts(row, other, loops_of)
    frame = torch.stack([indptr[0].long(), indptr[-1].long(), (indptr[1:] < indptr[:-1]).sum()])
    return torch.cat([both[2:6], frame])


def edge_facts(source: Tensor, target: Tensor, loops_of: Tensor) -> Tensor:
    """Return the numbers of EdgeFacts as an int64 tensor on the device; (0, -1) as lowest and highest of no edges.

    The self-loops of each node are added to `loops_of`, int32; of nodes beyond its end they are not.
    """
    if source.shape[0] == 0:
        return torch.tensor([0, -1, 0, -1, 0, 0, 0, 0], device=source.device)
    kernels = triton_kernels("edge_facts_triton", source.device)
    if kernels is not None:
        facts: Tensor = kernels.edge_facts(source, target, loops_of)
        return facts
    s, t = source.long(), target.long()
    own = s[(s == t) & (s >= 0) & (s < loops_of.shape[0])]
    loops_of.index_add_(0, own, torch.ones_like(own, dtype=loops_of.dtype))
    balance = (mix64(mix64(s) ^ t) - mix64(mix64(t) ^ s)).sum()
    falls = [(end[1:] < end[:-1]).sum() for end in (s, t)]
    return torch.stack([s.min(), s.max(), t.min(), t.max(), (s == t).sum(), balance, *falls])
