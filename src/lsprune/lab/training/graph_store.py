"""Many graphs stored one after the other on one device, so that a batch is one gather and not a loop over graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from lsprune.graph import Array, Graph

_BATCHES_PER_GATHER = 64  # launching kernels takes longer than running them, so many batches share one gather


@dataclass(frozen=True, eq=False)
class GraphStore:
    """Graphs stored one after the other.

    Args:
        values: each attribute of all graphs, concatenated; `edge_index` numbers the nodes of every graph from 0.
        starts: for each attribute, `[G + 1]` on the CPU: where the rows of each graph begin.
    """

    values: dict[str, Tensor]
    starts: dict[str, Tensor]

    @classmethod
    def of(cls, graphs: Sequence[Data] | InMemoryDataset) -> GraphStore:
        """Return a store of the graphs of a list or dataset, with their tensor attributes."""
        if isinstance(graphs, InMemoryDataset) and graphs.slices is not None:
            stored = graphs._data
            keys = [key for key in stored.to_dict() if torch.is_tensor(stored[key])]
            whole = cls({key: stored[key] for key in keys}, {key: graphs.slices[key].long() for key in keys})
            return whole.select(torch.as_tensor(list(graphs.indices()), dtype=torch.long))
        keys = [key for key in graphs[0].to_dict() if torch.is_tensor(graphs[0][key])]
        values = {key: torch.cat([data[key] for data in graphs], dim=_axis(key)) for key in keys}
        starts = {key: _starts(torch.tensor([data[key].shape[_axis(key)] for data in graphs])) for key in keys}
        return cls(values, starts)

    def __len__(self) -> int:
        return len(self.starts["edge_index"]) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges of all graphs together."""
        return int(self.starts["edge_index"][-1])

    @property
    def node_starts(self) -> Tensor:
        """`[G + 1]` where each graph's nodes begin."""
        return self.starts["" if "" in self.starts else "x"]

    def with_attributes(self, keys: Sequence[str]) -> GraphStore:
        """Return the same graphs with `edge_index`, `y` and these attributes only."""
        kept = [key for key in ("edge_index", "y", *keys) if key in self.values]
        starts = {key: self.starts[key] for key in kept}
        return GraphStore({key: self.values[key] for key in kept}, {**starts, "": self.node_starts})

    def to(self, device: torch.device) -> GraphStore:
        """Return the same graphs with their attributes on a device."""
        return GraphStore({key: value.to(device) for key, value in self.values.items()}, self.starts)

    def select(self, ids: Tensor) -> GraphStore:
        """Return the graphs of these numbers, in this order."""
        rows, starts = self._rows(ids)
        values = {key: value.index_select(_axis(key), rows[key]) for key, value in self.values.items()}
        return GraphStore(values, starts)

    def batch(self, ids: Tensor) -> Data:
        """Return the graphs of these numbers as one, like PyG's `Batch`, with `batch`, `ptr` and `num_graphs`."""
        return next(self.select(ids).consecutive_batches(len(ids)))

    def consecutive_batches(self, size: int) -> Iterator[Data]:
        """Yield all graphs in their order in batches of `size`; each is a slice of tensors that are computed once."""
        ends, edges, nodes = self.values["edge_index"], self.starts["edge_index"], self.node_starts
        graphs, ptr = torch.arange(len(self)), nodes.to(ends.device)
        before = nodes[:-1] - nodes[graphs // size * size]  # nodes of the same batch before each graph
        shift = _repeat(before, edges, ends.device)
        values = {**self.values, "edge_index": ends + shift, "batch": _repeat(graphs % size, nodes, ends.device)}
        starts = {**self.starts, "batch": nodes}
        for first in range(0, len(self), size):
            last = min(first + size, len(self))
            slices = {}
            for key, value in values.items():
                low, high = int(starts[key][first]), int(starts[key][last])
                slices[key] = value.narrow(_axis(key), low, high - low)
            low, high = int(nodes[first]), int(nodes[last])
            yield Data(**slices, ptr=ptr[first : last + 1] - low, num_nodes=high - low, num_graphs=last - first)

    def to_graph(self, *, labels: bool = False) -> Graph:
        """Return all graphs as one `Graph` with `ptr`, for a pruner.

        Args:
            labels: with the labels of the nodes, all of them training nodes.
        """
        nodes = self.node_starts
        edge_index = self.values["edge_index"] + torch.repeat_interleave(nodes[:-1], self.starts["edge_index"].diff())
        x, attr = (self.values[key].numpy() if key in self.values else None for key in ("x", "edge_attr"))
        count = int(nodes[-1])
        known: dict[str, Any] = {"y": self.values["y"].numpy(), "train_mask": np.ones(count, bool)} if labels else {}
        return Graph.from_edges(edge_index.numpy(), num_nodes=count, x=x, edge_attr=attr, ptr=nodes.numpy(), **known)

    def without_self_loops(self) -> GraphStore:
        """Return the same graphs without self-loops."""
        ends = self.values["edge_index"]
        return self.keep_edges((ends[0] != ends[1]).numpy())

    def keep_edges(self, mask: Array) -> GraphStore:
        """Return the same graphs with the edges where the mask `[E]` is True."""
        keep = torch.from_numpy(mask)
        kept_before = _starts(keep)
        edge_keys = [key for key in self.values if key.startswith("edge_")]
        values = {key: self.values[key].index_select(_axis(key), keep.nonzero()[:, 0]) for key in edge_keys}
        starts = {key: kept_before[self.starts[key]] for key in edge_keys}
        return GraphStore({**self.values, **values}, {**self.starts, **starts})

    def _rows(self, ids: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Return, for each attribute, the rows of these graphs and where each graph begins among them."""
        device = self.values["edge_index"].device
        rows: dict[str, Tensor] = {}
        starts: dict[str, Tensor] = {}
        for key, begin in self.starts.items():
            counts = begin[ids + 1] - begin[ids]
            starts[key] = _starts(counts)
            if key in self.values:
                total = int(starts[key][-1])
                shifts = _repeat(begin[ids] - starts[key][:-1], starts[key], device)
                rows[key] = torch.arange(total, device=device) + shifts
        return rows, starts


def batches(store: GraphStore, size: int, order: Tensor | None = None) -> Iterator[Data]:
    """Yield the graphs in batches of `size`, in the given order or their own."""
    ids = torch.arange(len(store)) if order is None else order
    chunks = torch.split(ids, size * _BATCHES_PER_GATHER)
    return (batch for chunk in chunks for batch in store.select(chunk).consecutive_batches(size))


def _axis(key: str) -> int:
    return 1 if key == "edge_index" else 0


def _starts(counts: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), torch.cumsum(counts, 0)])


def _repeat(values: Tensor, starts: Tensor, device: torch.device) -> Tensor:
    """Return each graph's value once per row, on the device; the size is known on the CPU, so nothing synchronises."""
    counts = starts.diff().to(device)
    return torch.repeat_interleave(values.to(device), counts, output_size=int(starts[-1]))
