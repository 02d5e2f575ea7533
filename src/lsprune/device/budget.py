"""Where `keep` and `PerNode` become quotas on a device; the rules are those of `selection.budget`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph
from lsprune.device.owners import local_ids, which_graph
from lsprune.device.transfers import Transfer
from lsprune.graph import oriented
from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE, counted_degree, degree_counts, hash_order
from lsprune.kernels.gpu.splitmix import draw, signed
from lsprune.numeric.random_numbers import OWNER
from lsprune.numeric.random_numbers import draw as host_draw
from lsprune.selection.budget import level_of_target, split_budget
from lsprune.selection.budget import target_count as host_target
from lsprune.selection.per_node import PerNode
from lsprune.selection.rules import SelectionRules


def target_count(keep: float, edges: Tensor) -> Tensor:
    """Return floor(keep * edges + 0.5) for each graph."""
    return torch.floor(keep * edges.double() + 0.5).long()


def quotas(
    indptr: Any, graph: DeviceGraph, rules: SelectionRules, loops: Tensor | None = None
) -> tuple[Tensor | int, int]:
    """Return the most edges that each owner keeps: k, or `[owners]` int64 (exact `keep`, `PerNode`); and a lower bound.

    Args:
        loops: self-loops of each owner that are among its slots and do not count.
    """
    if rules.k is not None:
        return rules.k, rules.k
    if rules.budget is not None:
        return _per_node(counted_degree(indptr, loops), rules.budget), 0
    assert rules.keep is not None
    ptr: Any = oriented(rules.side, graph.source_ptr, graph.target_ptr)[0]
    owners = int(indptr.shape[0]) - 1
    if ptr is None or rules.pooled:
        ids = None if ptr is None else local_ids(ptr, owners, indptr.device)
        return _of_one_graph(indptr, loops, rules.keep, ids, rules.seed)
    degree, local = counted_degree(indptr, loops), local_ids(ptr, owners, indptr.device)
    member, graphs = which_graph(ptr, degree.shape[0], pooled=False, device=degree.device)
    target = target_count(rules.keep, _sums(degree, member, graphs))
    quota = _levels(degree, member, target)[member]
    left = target - _sums(torch.minimum(quota, degree), member, graphs)
    candidates = (degree > quota).nonzero()[:, 0]
    order = candidates[_by_hash(local[candidates], rules.seed)]
    order = order[torch.argsort(member[order], stable=True)]
    start = torch.searchsorted(member[order], torch.arange(graphs, device=order.device))
    first = torch.arange(order.shape[0], device=order.device) - start[member[order]] < left[member[order]]
    quota[order[first]] += 1
    return quota, 0


def _per_node(degree: Tensor, budget: PerNode) -> Tensor:
    """Return quotas that follow from the degrees; those of the distinct degrees are computed on the host."""
    budget.check_owners(degree.shape[0])
    if budget.counts is not None:
        return torch.from_numpy(budget.counts.copy()).to(degree.device)
    degrees, of_owner = torch.unique(degree, return_inverse=True)
    return torch.from_numpy(budget.of_degrees(degrees.cpu().numpy())).to(degree.device)[of_owner]


def _of_one_graph(
    indptr: Tensor, loops: Tensor | None, keep: float, ids: Tensor | None, seed: int
) -> tuple[Tensor, int]:
    """Return the quotas of one graph and the least; the level is found on the host, from the counts of the degrees."""
    *counts, edges = Transfer(degree_counts(indptr, loops)).numbers()
    occurs = np.flatnonzero(counts)
    level, left = level_of_target(int(host_target(keep, np.array([edges]))[0]), occurs, np.array(counts)[occurs])
    if level >= LARGE_DEGREE:  # degrees that were counted together
        degrees, each = torch.unique(counted_degree(indptr, loops), return_counts=True)
        level, left = split_budget(keep, degrees.cpu().numpy(), each.cpu().numpy())
    quota = torch.full((indptr.shape[0] - 1,), level, dtype=torch.int64, device=indptr.device)
    if left:
        order = torch.sort(hash_order(indptr, loops, level, _hash_start(seed), ids), stable=True).indices
        quota.index_fill_(0, order[:left], level + 1)
    return quota, level


@lru_cache(maxsize=64)
def _hash_start(seed: int) -> int:
    """Return what the hashes of owners start from, as an int64."""
    return signed(int(host_draw(seed, OWNER)))


def _by_hash(local: Tensor, seed: int) -> Tensor:
    """Return the order of owners by splitmix64(seed, owner id), then id; owners come by id."""
    return torch.argsort(draw(seed, (OWNER, local), local.device) ^ signed(1 << 63), stable=True)


def _sums(values: Tensor, member: Tensor, graphs: int) -> Tensor:
    return torch.zeros(graphs, dtype=torch.int64, device=values.device).index_add_(0, member, values)


def _levels(degree: Tensor, member: Tensor, target: Tensor) -> Tensor:
    """Return the largest k of each graph with sum of min(k, degree) <= target, by bisection in all at once."""
    largest = int(degree.max()) if degree.numel() else 0
    low, high = torch.zeros_like(target), torch.full_like(target, largest)
    for _ in range(largest.bit_length() + 1):
        middle = (low + high + 1) // 2
        fits = _sums(torch.minimum(degree, middle[member]), member, target.shape[0]) <= target
        low, high = torch.where(fits, middle, low), torch.where(fits, high, torch.minimum(high, middle - 1))
        high = torch.maximum(high, low)
    return low
