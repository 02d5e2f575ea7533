"""What must be known of a list of edges before it is grouped, in one pass and one transfer to the host."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import mix64
from lsprune.kernels.gpu.triton_support import triton_kernels

SIZE = 8  # numbers in a tensor of facts
_LAST = torch.iinfo(torch.int64).max


@dataclass(frozen=True)
class EdgeFacts:
    """Facts about edges; `by_source` and `by_target` say whether they are sorted by that end."""

    lowest_source: int  # negative if some id is, else 0
    highest_source: int  # -1 if there is no edge
    lowest_target: int
    highest_target: int
    loops: int
    by_source: bool
    by_target: bool
    to_ownerless: int | None = None  # edges to nodes that have no row; None unless edges are compressed rows

    @classmethod
    def of_edges(cls, numbers: list[int]) -> EdgeFacts:
        """Read what `edge_facts` counted."""
        low_s, high_s, low_t, high_t, loops, falls_s, falls_t = numbers[:7]
        return cls(-low_s, high_s - 1, -low_t, high_t - 1, loops, falls_s == 0, falls_t == 0)

    @classmethod
    def of_rows(cls, numbers: list[int], height: int, rows: str) -> EdgeFacts:
        """Read what `row_facts` counted of `height` compressed rows, which are this end of the edges."""
        low, high, loops = numbers[:3]
        own, other = (0, height - 1), (-low, high - 1)
        first, second = (own, other) if rows == "source" else (other, own)
        return cls(*first, *second, loops, rows == "source", rows == "target", numbers[6])


def row_facts(indptr: Tensor, other: Tensor, loops_of: Tensor, facts: Tensor) -> None:
    """Count what must be known of compressed rows in `facts`, `[SIZE]` int64 zeros.

    These are: something positive if an id is negative; the highest id + 1; self-loops; the first and the last pointer;
    the number of pointers that fall; the entries whose id is that of an empty row.
    The self-loops of each row are added to `loops_of`. Pointers may be broken, and ids may be beyond the last row.
    """
    rows, entries = indptr.shape[0] - 1, other.shape[0]
    kernels = triton_kernels("edge_facts_triton", other.device)
    if kernels is not None and entries and rows > 0:
        kernels.row_facts(indptr, other, loops_of, facts)
        return
    t = other.long()
    known = t[(t >= 0) & (t < rows)]
    entry = torch.arange(entries, device=t.device)[(t >= 0) & (t < rows)]
    start, stop = indptr[:-1][known].long(), indptr[1:][known].long()
    loop = (start <= entry) & (entry < stop)
    loops_of.index_add_(0, known[loop], torch.ones_like(known[loop], dtype=loops_of.dtype))
    frame = [indptr[0].long(), indptr[-1].long(), (indptr[1:] < indptr[:-1]).sum()]
    facts[:7] = torch.stack([*_range(t), loop.sum(), *frame, (start >= stop).sum()])


def edge_facts(source: Tensor, target: Tensor, loops_of: Tensor, facts: Tensor) -> None:
    """Count what must be known of edges in `facts`, `[SIZE]` int64 zeros.

    These are, of sources and of targets: something positive if an id is negative, and the highest id + 1. Then
    self-loops, and how often a source or a target is less than that of the edge before.
    The self-loops of each node are added to `loops_of`, int32; of nodes beyond its end they are not.
    """
    if source.shape[0] == 0:
        return
    kernels = triton_kernels("edge_facts_triton", source.device)
    if kernels is not None:
        kernels.edge_facts(source, target, loops_of, facts)
        return
    s, t = source.long(), target.long()
    own = s[(s == t) & (s >= 0) & (s < loops_of.shape[0])]
    loops_of.index_add_(0, own, torch.ones_like(own, dtype=loops_of.dtype))
    falls = [(end[1:] < end[:-1]).sum() for end in (s, t)]
    facts[:7] = torch.stack([*_range(s), *_range(t), (s == t).sum(), *falls])


def _range(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return something positive if an id is negative, else 0; and the highest id + 1."""
    if not ids.shape[0]:
        return ids.sum(), ids.sum()
    return (-(ids.min() >> 1)).clamp(min=0), (ids.max().clamp(max=_LAST - 1) + 1).clamp(min=0)


def reverse_balance(source: Tensor, target: Tensor) -> Tensor:
    """Return a number on the device that is 0 if every edge has its reverse (wrong with probability 2^-64)."""
    kernels = triton_kernels("edge_facts_triton", source.device)
    if kernels is not None and source.shape[0]:
        balance: Tensor = kernels.reverse_balance(source, target)
        return balance
    s, t = source.long(), target.long()
    return (mix64(mix64(s) ^ t) - mix64(mix64(t) ^ s)).sum()
