"""Edges grouped by owner on a device, and the ids that ties go by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.graph import DeviceGraph, expand_rows, sorted_by_owner
from lsprune.graph import Array, Owned, oriented
from lsprune.selection.rules import SelectionRules
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay


@dataclass(frozen=True, eq=False)
class DeviceOwned(Owned):
    """`Owned` with tensors. With `loops`, self-loops are among the slots, though they do not count and are kept."""

    loops: Tensor | None = None  # [owners] int32, the self-loops of each owner

    def bounds(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the first slot of the owners lo..hi and the slot after their last; all owners need no transfer."""
        if lo == 0 and hi == self.indptr.shape[0] - 1:
            return 0, int(self.neighbour.shape[0])
        return super().bounds(lo, hi)

    def edges(self, lo: int, hi: int) -> Array:
        """Return the caller's edge ids of the slots lo..hi."""
        ids: Any = torch.arange(lo, hi, device=_device(self)) if self.edge is None else self.edge[lo:hi]
        return ids  # type: ignore[no-any-return]

    def owners(self, lo: int, hi: int) -> Array:
        """Return the owner of each slot of the owners lo..hi."""
        start, stop = self.bounds(lo, hi)
        owner: Any = expand_rows(self.indptr[lo : hi + 1], stop - start) + lo
        return owner  # type: ignore[no-any-return]

    def blocks(self, slots: int = 1 << 24) -> Iterator[tuple[int, int]]:
        """Iterate over ranges of owners with about `slots` slots each; one range needs no transfer."""
        count, owners = int(self.neighbour.shape[0]), int(self.indptr.shape[0]) - 1
        if count <= slots:
            return iter([(0, owners)] if owners else [])
        marks = torch.arange(slots, count, slots, device=_device(self))
        cuts = torch.searchsorted(self.indptr, marks).tolist()  # type: ignore[call-overload]
        borders = [0, *cuts, owners]
        return ((lo, hi) for lo, hi in zip(borders[:-1], borders[1:], strict=True) if hi > lo)

    def count_neighbours(self, counts: Array) -> Array:
        """Add to counts[node] the number of slots in which each node is the neighbour."""
        tensor: Any = counts
        other: Any = self.neighbour
        tensor.index_add_(0, other.long(), torch.ones_like(other, dtype=tensor.dtype))
        return counts


def _device(owned: Owned) -> Any:
    tensor: Any = owned.indptr
    return tensor.device


def group(graph: DeviceGraph, rules: SelectionRules, *, loops_may_stay: bool = False) -> DeviceOwned:
    """Group the edges by owner; leave out self-loops unless they count like any other edge.

    Edges that are sorted by owner already, or are compressed rows of owners, are taken as they are.

    Args:
        loops_may_stay: self-loops that do not count may stay among the slots if they are kept: that saves two passes.
            Compressed rows are then taken before anything is known of their entries: the caller asks for `graph.facts`.
    """
    compressed = graph.rows == oriented(rules.side, "source", "target")[0]
    if compressed and loops_may_stay and uncounted_loops_stay(rules.self_loops) and graph.loops_of is not None:
        neighbours: Any = oriented(rules.side, graph.source, graph.target)[1]
        return DeviceOwned(cast(Any, graph.indptr), neighbours, None, loops=graph.loops_of)
    without = graph.facts.loops > 0 and not loops_count(rules.self_loops, bipartite=graph.bipartite)
    loops = graph.loops_of if without and loops_may_stay and uncounted_loops_stay(rules.self_loops) else None
    without = without and loops is None
    owners = graph.num_owners(rules.side)
    if compressed and not without:
        neighbour: Any = oriented(rules.side, graph.source, graph.target)[1]
        return DeviceOwned(cast(Any, graph.indptr), neighbour, None, loops=loops)
    owner: Any
    owner, neighbour = oriented(rules.side, *graph.ends())
    edge: Any = None
    if without:
        edge = torch.nonzero_static(owner != neighbour, size=graph.num_edges - graph.facts.loops)[:, 0]
        owner, neighbour = owner[edge], neighbour[edge]
    if not (compressed or sorted_by_owner(graph, rules.side)):
        owner, order = torch.sort(owner.int(), stable=True)
        neighbour, edge = neighbour.int()[order], order if edge is None else edge[order]
    indptr = torch._convert_indices_from_coo_to_csr(owner.contiguous(), owners, out_int32=False)
    return DeviceOwned(cast(Any, indptr), cast(Any, neighbour), edge, loops=loops)


def node_base(ptr: Any, nodes: int) -> Tensor | None:
    """Return the first id of its graph for each node; None for a single graph."""
    return None if ptr is None else torch.repeat_interleave(ptr[:-1], ptr.diff(), output_size=nodes)


def neighbour_base(graph: DeviceGraph, side: str) -> Tensor:
    """Return the first id of its graph for each neighbour; empty for a single graph."""
    base = node_base(oriented(side, graph.source_ptr, graph.target_ptr)[1], graph.num_neighbours(side))
    return torch.empty(0, dtype=torch.int64, device=graph.device) if base is None else base


def local_ids(ptr: Any, nodes: int, device: Any) -> Tensor:
    """Return the id of each node within its graph."""
    ids, base = torch.arange(nodes, device=device), node_base(ptr, nodes)
    return ids if base is None else ids - base


def neighbour_base_of_owner(graph: DeviceGraph, side: str) -> Tensor | None:
    """Return the first neighbour id of its graph for each owner; None for a single graph."""
    own: Any
    other: Any
    own, other = oriented(side, graph.source_ptr, graph.target_ptr)
    if own is None or other is None:
        return None
    return torch.repeat_interleave(other[:-1], own.diff(), output_size=graph.num_owners(side))


def which_graph(ptr: Any, nodes: int, pooled: bool, device: Any) -> tuple[Tensor, int]:
    """Return the graph number of each node and the number of graphs, for budgets; one graph if pooled."""
    if ptr is None or pooled:
        return torch.zeros(nodes, dtype=torch.int64, device=device), 1
    return torch.repeat_interleave(ptr.diff(), output_size=nodes), max(int(ptr.shape[0]) - 1, 1)
