"""Graphs to try candidates for "auto" on, sampled on a device; see `pruners.calibration_graphs`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph, from_tensors
from lsprune.device.pairs import lexsort
from lsprune.graph import Owned, oriented
from lsprune.kernels.gpu.constants import constant
from lsprune.kernels.gpu.quantisation import row_chunks
from lsprune.kernels.gpu.splitmix import draw, signed
from lsprune.numeric.random_numbers import NOISE
from lsprune.numeric.random_numbers import draw as host_draw

_FIRST_BIT = signed(1 << 63)  # changed, it brings uint64 into the order of int64


def sample_slots(graph: DeviceGraph, owned: Owned, seed: int, least: int, most: int, each: int) -> Tensor:
    """Sample slots of owners with more than `least` edges: at most `most` slots in all and `each` of one owner."""
    indptr: Any = owned.indptr
    degree = indptr.diff()
    able = (degree > least).nonzero()[:, 0]
    order = able[torch.argsort(draw(seed, (NOISE, 0, able), able.device) ^ _FIRST_BIT, stable=True)]
    sums = degree[order].clamp(max=each).cumsum(0)
    count = int((sums <= most).sum())
    chosen = order[:count].sort().values
    hub = degree[chosen] > each  # few: `most` slots have room for most / each of them
    slots = [_all_slots(indptr, chosen[~hub])]
    slots += [_some_slots(graph, owned, seed, owner, each) for owner in chosen[hub].tolist()]
    if count < order.shape[0] and (room := most - (int(sums[count - 1]) if count else 0)) > least:
        slots.append(_some_slots(graph, owned, seed, int(order[count]), room))
    return torch.cat(slots)


def _all_slots(indptr: Tensor, owners: Tensor) -> Tensor:
    """Return all slots of some owners."""
    degree = indptr[owners + 1] - indptr[owners]
    which = torch.repeat_interleave(degree)
    return torch.arange(which.shape[0], device=which.device) + (indptr[owners] - degree.cumsum(0) + degree)[which]


def _some_slots(graph: DeviceGraph, owned: Owned, seed: int, owner: int, each: int) -> Tensor:
    """Return the slots of an owner with more than `each` whose neighbours have the smallest random names."""
    start, stop = owned.bounds(owner, owner + 1)
    neighbour: Any = owned.neighbour[start:stop]
    names = draw(seed, (NOISE, 1, owner, neighbour), neighbour.device) ^ _FIRST_BIT
    near = (names <= names.sort().values[each - 1]).nonzero()[:, 0]  # more than `each` if edges are parallel
    order = lexsort(_content(graph.edge_attr, _edges(owned, near + start)), names[near])
    return near[order[:each]] + start


def slots_in_order(graph: DeviceGraph, owned: Owned, slots: Tensor) -> Tensor:
    """Sort slots by owner, neighbour and content, so that nothing that follows depends on the order of edges."""
    neighbour: Any = owned.neighbour
    content = _content(graph.edge_attr, _edges(owned, slots))
    return slots[lexsort(content, neighbour[slots], _owners(owned, slots))]


def slots_to_graph(graph: DeviceGraph, owned: Owned, side: str, slots: Tensor) -> DeviceGraph:
    """Make a graph of the edges in these slots; owners and neighbours are renumbered."""
    neighbour: Any = owned.neighbour
    ends = oriented(side, _owners(owned, slots), neighbour[slots].long())
    (sources, first), (targets, second) = (torch.unique(end, return_inverse=True) for end in ends)
    return from_tensors(
        (first, second),
        num_nodes=(sources.shape[0], targets.shape[0]),
        x=(_take(graph.x_source, sources), _take(graph.x_target, targets)),
        edge_attr=_take(graph.edge_attr, _edges(owned, slots)),
    )


def _take(rows: Any, ids: Tensor) -> Any:
    return None if rows is None else rows[ids]


def _owners(owned: Owned, slots: Tensor) -> Tensor:
    indptr: Any = owned.indptr
    return torch.searchsorted(indptr, slots, right=True) - 1


def _edges(owned: Owned, slots: Tensor) -> Tensor:
    edge: Any = owned.edge
    return slots if edge is None else edge[slots].long()


def _content(rows: Any, ids: Tensor) -> Tensor:
    """Return a number for the content of each of some rows, in the order of uint64; 0 without rows."""
    out = torch.zeros(ids.shape[0], dtype=torch.int64, device=ids.device)
    if rows is None:
        return out
    flat = rows.reshape(rows.shape[0], -1)
    factors = constant(host_draw(0, NOISE, np.arange(flat.shape[1])), ids.device)
    for lo, hi in row_chunks(ids.shape[0], flat.shape[1]):
        bits = (flat[ids[lo:hi]].float() + 0.0).view(torch.int32).long() & 0xFFFFFFFF  # -0 becomes 0
        out[lo:hi] = (bits * factors).sum(1)
    return out ^ _FIRST_BIT
