"""From the slots that were taken to a mask on the device, and the number of isolated nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph
from lsprune.device.owners import DeviceOwned
from lsprune.graph import oriented
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay


def to_mask(graph: DeviceGraph, owned: DeviceOwned, taken: Tensor, self_loops: str) -> Tensor:
    """Return the mask in the caller's edge order; self-loops that took no part stay if "free", not if "drop"."""
    if owned.edge is None:
        return taken.bool()
    stay = owned.edge.shape[0] < graph.num_edges and uncounted_loops_stay(self_loops)
    mask = torch.full((graph.num_edges,), stay, dtype=torch.bool, device=graph.device)
    edge: Any = owned.edge
    mask[edge] = taken.bool()
    return mask


def isolated_nodes(graph: DeviceGraph, owned: DeviceOwned, taken: Tensor, rules: Any) -> Tensor:
    """Count the nodes that had an edge to another node and have none left, on the device; 0 for two kinds of nodes."""
    if graph.bipartite:
        return torch.zeros((), dtype=torch.int64, device=graph.device)
    owners = graph.num_nodes
    if loops_count(rules.self_loops, bipartite=False) and graph.facts.loops:
        owner: Any
        owner, neighbour = oriented(rules.side, *graph.ends())
        kept = to_mask(graph, owned, taken, rules.self_loops)
        real = owner != neighbour
        had, has = (_marked(owner, neighbour, real & kept_, owners) for kept_ in (real, kept))
        return (had & ~has).sum()
    indptr: Any = owned.indptr
    own = indptr.diff() > 0
    keeps = torch.zeros(owners + 1, dtype=torch.bool, device=graph.device)
    slots = taken.shape[0]
    owner = torch.repeat_interleave(indptr.diff(), output_size=slots)
    keeps[torch.where(taken.bool(), owner, owners)] = True
    node: Any = owned.neighbour
    keeps[torch.where(taken.bool(), node.long(), owners)] = True
    had = own.clone()
    had[node.long()] = True
    return (had & ~keeps[:owners]).sum()


def _marked(owner: Tensor, neighbour: Tensor, which: Tensor, nodes: int) -> Tensor:
    marks = torch.zeros(nodes + 1, dtype=torch.bool, device=owner.device)
    for ends in (owner, neighbour):
        marks[torch.where(which, ends.long(), nodes)] = True
    return marks[:nodes]
