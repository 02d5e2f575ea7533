"""Where `keep` and `PerNode` become quotas on a device; the rules are those of `selection.budget`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph
from lsprune.device.owners import local_ids, which_graph
from lsprune.graph import oriented
from lsprune.kernels.gpu.splitmix import draw, signed
from lsprune.numeric.random_numbers import OWNER
from lsprune.selection.budget import split_budget
from lsprune.selection.per_node import PerNode
from lsprune.selection.rules import SelectionRules


def target_count(keep: float, edges: Tensor) -> Tensor:
    """Return floor(keep * edges + 0.5) for each graph."""
    return torch.floor(keep * edges.double() + 0.5).long()


def quotas(indptr: Any, graph: DeviceGraph, rules: SelectionRules) -> Tensor | int:
    """Return the most edges that each owner keeps: k, or `[owners]` int64 (exact `keep`, `PerNode`)."""
    if rules.k is not None:
        return rules.k
    degree = indptr.diff()
    if rules.budget is not None:
        return _per_node(degree, rules.budget)
    assert rules.keep is not None
    ptr: Any = oriented(rules.side, graph.source_ptr, graph.target_ptr)[0]
    local = local_ids(ptr, degree.shape[0], degree.device)
    if ptr is None or rules.pooled:
        return _of_one_graph(degree, rules.keep, local, rules.seed)
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
    return quota


def _per_node(degree: Tensor, budget: PerNode) -> Tensor:
    """Return quotas that follow from the degrees; those of the distinct degrees are computed on the host."""
    budget.check_owners(degree.shape[0])
    if budget.counts is not None:
        return torch.from_numpy(budget.counts.copy()).to(degree.device)
    degrees, of_owner = torch.unique(degree, return_inverse=True)
    return torch.from_numpy(budget.of_degrees(degrees.cpu().numpy())).to(degree.device)[of_owner]


def _of_one_graph(degree: Tensor, keep: float, local: Tensor, seed: int) -> Tensor:
    """Return the quotas of one graph; the level is found on the host, from the counts of the degrees."""
    degrees, counts = torch.unique(degree, return_counts=True)
    level, left = split_budget(keep, degrees.cpu().numpy(), counts.cpu().numpy())
    quota = torch.full_like(degree, level)
    if left:
        candidates = (degree > level).nonzero()[:, 0]
        quota[candidates[_by_hash(local[candidates], seed)[:left]]] += 1
    return quota


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
