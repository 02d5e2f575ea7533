"""The geometry that MXMNet reads of a batch of molecules: which atoms are near, which bonds meet, at what angle."""

from __future__ import annotations

import torch
from torch import Tensor


def ragged(starts: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """For all ranges `starts[i] : starts[i] + counts[i]` in turn, the number i of the range and the member.

    >>> ragged(torch.tensor([4, 0]), torch.tensor([2, 1]))
    (tensor([0, 0, 1]), tensor([4, 5, 0]))
    """
    which = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    first = torch.cumsum(counts, 0) - counts
    return which, starts[which] + torch.arange(len(which), device=counts.device) - first[which]


def near_pairs(pos: Tensor, batch: Tensor, cutoff: float) -> Tensor:
    """The ordered pairs (s, t) of different atoms of one molecule at most `cutoff` apart, `[2, P]`.

    Args:
        batch: `[N]` each atom's molecule, ascending, as PyG's batches are.
    """
    sizes = torch.bincount(batch)
    starts = torch.cumsum(sizes, 0) - sizes
    target, source = ragged(starts[batch], sizes[batch])
    near = (source != target) & ((pos[source] - pos[target]).norm(dim=-1) <= cutoff)
    return torch.stack([source[near], target[near]])


def meeting(edges: Tensor, at: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    """All (edge e, edge f) where f ends at node `at[e]`, as two vectors of edge numbers."""
    order = torch.argsort(edges[1], stable=True)
    counts = torch.bincount(edges[1], minlength=nodes)
    starts = torch.cumsum(counts, 0) - counts
    edge, place = ragged(starts[at], counts[at])
    return edge, order[place]


def two_hop(edges: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    """Edges e = (j, i) and f = (k, j) with k other than i: f brings to j what e may carry on to i."""
    edge, other = meeting(edges, edges[0], nodes)
    there = edges[0, other] != edges[1, edge]
    return edge[there], other[there]


def one_hop(edges: Tensor, nodes: int) -> tuple[Tensor, Tensor]:
    """Edges e = (j, i) and f = (j', i) with j' other than j: two that end at the same atom."""
    edge, other = meeting(edges, edges[1], nodes)
    there = edges[0, other] != edges[0, edge]
    return edge[there], other[there]


def angle(first: Tensor, second: Tensor) -> Tensor:
    """The angle between two vectors, `[T]` in [0, π]; by atan2, as arccos loses digits near 0 and π."""
    return torch.atan2(torch.linalg.cross(first, second).norm(dim=-1), (first * second).sum(-1))
