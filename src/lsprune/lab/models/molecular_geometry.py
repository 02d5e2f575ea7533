"""Geometry of a batch of molecules for MXMNet: pairs of near atoms, pairs of bonds that share an atom, angles."""

from __future__ import annotations

import torch
from torch import Tensor


def expand_ranges(starts: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Return (i, member) for every member of every range `starts[i] : starts[i] + counts[i]`, as two vectors.

    >>> expand_ranges(torch.tensor([4, 0]), torch.tensor([2, 1]))
    (tensor([0, 0, 1]), tensor([4, 5, 0]))
    """
    number = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    first = torch.cumsum(counts, 0) - counts
    return number, starts[number] + torch.arange(len(number), device=counts.device) - first[number]


def near_pairs(pos: Tensor, batch: Tensor, cutoff: float) -> Tensor:
    """Return the ordered pairs (s, t) of different atoms of one molecule at most `cutoff` apart, `[2, P]`.

    Args:
        batch: `[N]` number of each atom's molecule, ascending as in PyG's batches.
    """
    sizes = torch.bincount(batch)
    starts = torch.cumsum(sizes, 0) - sizes
    target, source = expand_ranges(starts[batch], sizes[batch])
    near = (source != target) & ((pos[source] - pos[target]).norm(dim=-1) <= cutoff)
    return torch.stack([source[near], target[near]])


def edges_into(nodes: Tensor, edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Return all (i, f) where edge f ends at `nodes[i]`, as two vectors."""
    order = torch.argsort(edges[1], stable=True)
    counts = torch.bincount(edges[1], minlength=num_nodes)
    starts = torch.cumsum(counts, 0) - counts
    number, position = expand_ranges(starts[nodes], counts[nodes])
    return number, order[position]


def two_hop(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Return the numbers of all edges e = (j, i) and f = (k, j) with k != i: f and e are a path of two hops."""
    edge, other = edges_into(edges[0], edges, num_nodes)
    valid = edges[0, other] != edges[1, edge]
    return edge[valid], other[valid]


def one_hop(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Return the numbers of all edges e = (j, i) and f = (k, i) with k != j: both end at the same atom."""
    edge, other = edges_into(edges[1], edges, num_nodes)
    valid = edges[0, other] != edges[0, edge]
    return edge[valid], other[valid]


def angle(first: Tensor, second: Tensor) -> Tensor:
    """Return the angle between two vectors, `[T]` in [0, π]; by atan2, since arccos loses digits near 0 and π."""
    return torch.atan2(torch.linalg.cross(first, second).norm(dim=-1), (first * second).sum(-1))
