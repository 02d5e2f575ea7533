"""Many small graphs on a device, read and masked together: entries are joined, masked once, and cut apart again.

A few operations for each of thousands of graphs would take far longer than the work itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from lsprune.adapters.base import Kept
from lsprune.adapters.pyg.stores import NODE_KEYS, TIME_KEYS, Store, connectivity, is_edge_level
from lsprune.adapters.pyg.tensors import DeviceMask, edge_weight, kept_before, kept_weights, mask_of, scale
from lsprune.graph import UNUSABLE_MASK, Graph
from lsprune.graph_arrays import inferred_count

_COUNTS = ("num_edges", "num_sampled_edges")  # counts of edges, which a mask changes


@dataclass(frozen=True, eq=False)
class ListedStores:
    """The stores of several `Data` that have plain tensors of the same names and types; others are read one by one."""

    stores: list[Store]
    edge_names: list[str]  # entries with a row for each edge, besides edge_index
    edges: list[int]  # of each graph

    @classmethod
    def of(cls, graphs: Sequence[Any]) -> ListedStores | None:
        """Return the stores of these graphs; None if they are not alike in the way that this class needs."""
        kind = type(graphs[0])
        plain = isinstance(graphs[0], Data) and not isinstance(graphs[0], Batch)
        if not plain or kind.__cat_dim__ is not Data.__cat_dim__ or {type(graph) for graph in graphs} != {kind}:
            return None
        stores = [graph._store for graph in graphs]
        names = list(stores[0].keys())
        if any(list(store._mapping) != names for store in stores) or connectivity(stores[0]) != "edge_index":
            return None
        edge_names = [name for name in names if is_edge_level(stores[0], name)]
        if any(name in _COUNTS or name.endswith(("_ptr", "_batch")) for name in names):
            return None
        for name in (name for name in names if name in TIME_KEYS):
            if len({is_edge_level(store, name) for store in stores}) > 1:
                return None
        ends = [store["edge_index"] for store in stores]
        if not _alike(ends) or ends[0].is_floating_point() or any(e.dim() != 2 or e.size(0) != 2 for e in ends):
            return None
        listed = cls(stores, edge_names, [e.size(1) for e in ends])
        rows_fit = (listed.has_rows(name, listed.edges) for name in edge_names)
        return listed if all(rows_fit) else None

    def column(self, name: str) -> list[Any]:
        """Return the entry of this name of each graph."""
        return [store._mapping[name] for store in self.stores]

    def has_rows(self, name: str, counts: list[int]) -> bool:
        """Return whether this entry is a tensor with so many rows in each graph, beside the edges."""
        values = self.column(name)
        return _alike(values, self.device) and values[0].dim() > 0 and [value.size(0) for value in values] == counts

    @property
    def device(self) -> Any:
        """Where the edges are."""
        return self.stores[0]["edge_index"].device

    @cached_property
    def _edge_counts(self) -> Tensor:
        return torch.tensor(self.edges).to(self.device)

    def spread(self, values: Tensor) -> Tensor:
        """Return the value of its graph for each edge."""
        return torch.repeat_interleave(values, self._edge_counts, output_size=sum(self.edges))

    @cached_property
    def ends(self) -> Tensor:
        """Sources and targets of all graphs, `[2, E]`; the ids of each graph begin at 0."""
        return torch.cat(self.column("edge_index"), 1)

    def stated_nodes(self) -> list[int] | None:
        """Return the number of nodes of each graph as PyG reads it; None if it would guess it from the edges.

        Raises LookupError if this class cannot tell.
        """
        names = list(self.stores[0].keys())
        if "num_nodes" in names:
            counts = self.column("num_nodes")
            if {type(count) for count in counts} != {int} or min(counts) < 0:
                raise LookupError
            return counts
        key = next((name for name in names if name in NODE_KEYS), None)
        if key is None and not any("node" in name for name in names):
            return None
        values = [] if key is None else self.column(key)
        if not values or any(type(value) is not Tensor or not value.dim() for value in values):
            raise LookupError
        return [value.size(0) for value in values]

    def guessed_nodes(self) -> list[int]:
        """Return the largest id + 1 of each graph."""
        highest = torch.full((len(self.stores),), -1, dtype=torch.int64, device=self.device)
        of_edge = self.spread(torch.arange(len(self.stores), device=self.device))
        highest.scatter_reduce_(0, of_edge, self.ends.long().amax(0), "amax")
        counts: list[int] = (highest + 1).tolist()
        inferred_count(max(counts, default=0) - 1, int(self.ends.shape[1]))
        return counts

    def graph(self) -> Graph | None:
        """Return the graphs as one; None if something is amiss, which reading them one by one says better."""
        from lsprune.device.graph import from_tensors

        try:
            counts = self.stated_nodes() or self.guessed_nodes()
        except LookupError:
            return None
        if "x" in self.stores[0] and not self.has_rows("x", counts):
            return None
        nodes = torch.tensor(counts).to(self.device)
        limit = self.spread(nodes)
        if bool(((self.ends < 0) | (self.ends >= limit)).any()):
            return None
        ptr = torch.cat([nodes.new_zeros(1), nodes.cumsum(0)])
        source, target = self.ends + self.spread(ptr[:-1])
        rows: dict[str, Any] = {
            name: torch.cat(self.column(name)) if name in self.stores[0] else None for name in ("x", "edge_attr")
        }
        graph = from_tensors((source, target), num_nodes=sum(counts), ptr=ptr, **rows)
        there = [name for name in ("y", "train_mask") if name in self.stores[0] and self.has_rows(name, counts)]
        labels: dict[str, Any] = {name: torch.cat(self.column(name)) for name in there}
        if "train_mask" not in there and any("train_mask" in store for store in self.stores):
            labels["train_mask"] = UNUSABLE_MASK
        labels["unusable_y"] = "y" not in there and any(store.get("y") is not None for store in self.stores)
        if "edge_weight" in self.edge_names:
            labels["edge_weight"] = edge_weight(torch.cat(self.column("edge_weight")), graph.num_edges)
        return replace(graph, **labels)

    def keep(self, kept: Kept) -> dict[str, Sequence[Any]]:
        """Return the entries that change by name, one of each store: those of its edges that are kept."""
        mask = mask_of(kept)
        assert isinstance(mask, DeviceMask)
        starts = torch.tensor([0, *accumulate(self.edges)])
        sizes: list[int] = kept_before(mask, starts).diff().tolist()
        rows = {name: mask.take(torch.cat(self.column(name)), 0) for name in self.edge_names}
        if kept.weight is not None:
            factors = kept_weights(kept, mask)
            rows["edge_weight"] = scale(rows["edge_weight"], factors) if "edge_weight" in rows else factors
        if kept.e_id:
            rows["e_id"] = mask.positions - self.spread(starts[:-1].to(self.device))[mask.positions]
        new: dict[str, Sequence[Any]] = {name: torch.split(values, sizes) for name, values in rows.items()}
        new["edge_index"] = _cut(mask.take(self.ends, 1), sizes)
        if self.stated_nodes() is None:  # without edges at its last nodes, PyG would count fewer nodes
            new = {"num_nodes": self.guessed_nodes(), **new}
        return new


def _alike(values: list[Any], device: Any = None) -> bool:
    """Return whether these are dense tensors of one type on one device, so that they can be joined and cut again."""
    if {type(value) for value in values} != {Tensor}:
        return False
    kinds = {(value.dtype, value.device, value.layout, value.requires_grad) for value in values}
    widths = {value.shape[1:] for value in values} if device is not None else {()}
    fits = len(kinds) == 1 and len(widths) == 1 and values[0].layout == torch.strided
    return fits and device in (None, values[0].device)


def _cut(pairs: Tensor, sizes: list[int]) -> list[Tensor]:
    """Cut `[2, n]` into contiguous pieces `[2, size]`."""
    counts = torch.tensor(sizes).to(pairs.device)
    shift, width = (
        torch.repeat_interleave(values, counts, output_size=pairs.shape[1])
        for values in (counts.cumsum(0) - counts, counts)
    )
    place = torch.arange(pairs.shape[1], device=pairs.device) + shift  # both rows of a piece follow each other
    flat = pairs.new_empty(pairs.numel())
    flat[place], flat[place + width] = pairs[0], pairs[1]
    return [piece.view(2, -1) for piece in torch.split(flat, [2 * size for size in sizes])]
