"""From the slots that were taken to a mask on the device, and the number of isolated nodes."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph
from lsprune.device.owners import DeviceOwned
from lsprune.graph import oriented
from lsprune.kernels.gpu.isolated_nodes import count_isolated, count_isolated_ends
from lsprune.kernels.gpu.masking import scatter_taken
from lsprune.selection.mask import Outcome
from lsprune.selection.rules import SelectionRules
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay


def to_mask(graph: DeviceGraph, owned: DeviceOwned, taken: Tensor, self_loops: str) -> Tensor:
    """Return the mask in the caller's edge order; self-loops that took no part stay if "free", not if "drop"."""
    if owned.edge is None:
        return taken.view(torch.bool) if taken.dtype == torch.uint8 else taken.bool()
    mask: Any
    if owned.edge.shape[0] < graph.num_edges and uncounted_loops_stay(self_loops):
        ends: Any = graph.ends()
        mask = ends[0] == ends[1]
    else:
        mask = torch.zeros(graph.num_edges, dtype=torch.bool, device=graph.device)
    scatter_taken(taken, cast(Any, owned.edge), mask)
    result: Tensor = mask
    return result


def isolated_nodes(
    graph: DeviceGraph, owned: DeviceOwned, taken: Tensor, rules: SelectionRules, *, owners_keep: bool
) -> Tensor | None:
    """Count the nodes that had an edge to another node and have none left, on the device; None if there are none.

    Args:
        owners_keep: every owner of an edge keeps at least one.
    """
    if graph.bipartite:  # they are not counted
        return None
    if owners_keep and not (loops_count(rules.self_loops, bipartite=False) and graph.facts.loops):
        if graph.rows == oriented(rules.side, "source", "target")[0] and graph.facts.to_ownerless == 0:
            return None
        return count_isolated(cast(Any, owned.indptr), cast(Any, owned.neighbour), taken)
    return _isolated(graph, to_mask(graph, owned, taken, rules.self_loops))


def outcome(graph: DeviceGraph, mask: Tensor) -> Outcome:
    """Return the outcome of any mask: what it isolates and how many edges it keeps, in one transfer."""
    none = torch.zeros((), dtype=torch.int64, device=graph.device)
    isolated, kept = torch.stack([none if graph.bipartite else _isolated(graph, mask), mask.sum()]).tolist()
    return Outcome(cast(Any, mask), isolated, kept)


def _isolated(graph: DeviceGraph, mask: Tensor) -> Tensor:
    """Count the nodes that had an edge to another node and have none left."""
    source: Any
    target: Any
    source, target = graph.ends()
    return count_isolated_ends(source, target, mask, graph.num_nodes)
