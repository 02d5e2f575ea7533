"""Many graphs, one after the other on one device: any batch of them is a gather, without a loop over graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from lsprune.graph import Array, Graph

_AHEAD = 64  # batches that are gathered together: telling the device what to do takes longer than doing it


@dataclass(frozen=True, eq=False)
class Stack:
    """Graphs stored one after the other.

    Args:
        values: the attributes of all graphs, joined; `edge_index` counts nodes from 0 in every graph.
        starts: `[G + 1]` for each attribute, on the CPU: where each graph's part begins.
    """

    values: dict[str, Tensor]
    starts: dict[str, Tensor]

    @classmethod
    def of(cls, graphs: Sequence[Data] | InMemoryDataset) -> Stack:
        """The graphs of a list or a dataset; attributes that are no tensors are left out."""
        if isinstance(graphs, InMemoryDataset) and graphs.slices is not None:
            stored = graphs._data
            keys = [key for key in stored.to_dict() if torch.is_tensor(stored[key])]
            whole = cls({key: stored[key] for key in keys}, {key: graphs.slices[key].long() for key in keys})
            return whole.chosen(torch.as_tensor(list(graphs.indices()), dtype=torch.long))
        keys = [key for key in graphs[0].to_dict() if torch.is_tensor(graphs[0][key])]
        values = {key: torch.cat([data[key] for data in graphs], dim=_axis(key)) for key in keys}
        starts = {key: _starts(torch.tensor([data[key].shape[_axis(key)] for data in graphs])) for key in keys}
        return cls(values, starts)

    def __len__(self) -> int:
        return len(self.starts["edge_index"]) - 1

    @property
    def num_edges(self) -> int:
        """Edges of all graphs together."""
        return int(self.starts["edge_index"][-1])

    def only(self, keys: Sequence[str]) -> Stack:
        """The same graphs with these attributes alone, and the number of their nodes."""
        wanted = [key for key in ("edge_index", "y", *keys) if key in self.values]
        starts = {key: self.starts[key] for key in wanted}
        return Stack({key: self.values[key] for key in wanted}, {**starts, "": self.node_starts})

    @property
    def node_starts(self) -> Tensor:
        """`[G + 1]` where each graph's nodes begin."""
        return self.starts["" if "" in self.starts else "x"]

    def to(self, device: torch.device) -> Stack:
        """The same graphs with their attributes on a device."""
        return Stack({key: value.to(device) for key, value in self.values.items()}, self.starts)

    def chosen(self, ids: Tensor) -> Stack:
        """The graphs of these numbers, in this order."""
        rows, starts = self._rows(ids)
        values = {key: value.index_select(_axis(key), rows[key]) for key, value in self.values.items()}
        return Stack(values, starts)

    def batch(self, ids: Tensor) -> Data:
        """The graphs of these numbers as one: what PyG's `Batch` holds, with `batch`, `ptr` and `num_graphs`."""
        return next(self.chosen(ids).cut(len(ids)))

    def cut(self, size: int) -> Iterator[Data]:
        """All graphs in their order in batches of `size`, which are slices: the device is told of them once."""
        ends, edges, nodes = self.values["edge_index"], self.starts["edge_index"], self.node_starts
        graphs, ptr = torch.arange(len(self)), nodes.to(ends.device)
        before = nodes[:-1] - nodes[graphs // size * size]  # nodes of the same batch
        shift = _repeated(before, edges, ends.device)
        values = {**self.values, "edge_index": ends + shift, "batch": _repeated(graphs % size, nodes, ends.device)}
        starts = {**self.starts, "batch": nodes}
        for first in range(0, len(self), size):
            last = min(first + size, len(self))
            some = {}
            for key, value in values.items():
                lo, hi = int(starts[key][first]), int(starts[key][last])
                some[key] = value.narrow(_axis(key), lo, hi - lo)
            lo, hi = int(nodes[first]), int(nodes[last])
            yield Data(**some, ptr=ptr[first : last + 1] - lo, num_nodes=hi - lo, num_graphs=last - first)

    def graph(self) -> Graph:
        """All graphs as one `Graph` of several, for a pruner."""
        nodes = self.node_starts
        joined = self.values["edge_index"] + torch.repeat_interleave(nodes[:-1], self.starts["edge_index"].diff())
        x, attr = (self.values[key].numpy() if key in self.values else None for key in ("x", "edge_attr"))
        return Graph.from_edges(joined.numpy(), num_nodes=int(nodes[-1]), x=x, edge_attr=attr, ptr=nodes.numpy())

    def without_loops(self) -> Stack:
        """The same graphs without self-loops."""
        ends = self.values["edge_index"]
        return self.kept((ends[0] != ends[1]).numpy())

    def kept(self, mask: Array) -> Stack:
        """The same graphs with the edges where the mask is true."""
        keep = torch.from_numpy(mask)
        before = torch.cat([torch.zeros(1, dtype=torch.long), torch.cumsum(keep, 0)])
        edges = [key for key in self.values if key.startswith("edge_")]
        values = {key: self.values[key].index_select(_axis(key), keep.nonzero()[:, 0]) for key in edges}
        starts = {key: before[self.starts[key]] for key in edges}
        return Stack({**self.values, **values}, {**self.starts, **starts})

    def _rows(self, ids: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """For each attribute, which rows belong to the graphs, and where each of them begins then."""
        device = self.values["edge_index"].device
        rows: dict[str, Tensor] = {}
        starts: dict[str, Tensor] = {}
        for key, begin in self.starts.items():
            counts = begin[ids + 1] - begin[ids]
            starts[key] = _starts(counts)
            if key in self.values:
                total = int(starts[key][-1])
                shifts = _repeated(begin[ids] - starts[key][:-1], starts[key], device)
                rows[key] = torch.arange(total, device=device) + shifts
        return rows, starts


def _axis(key: str) -> int:
    return 1 if key == "edge_index" else 0


def _starts(counts: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), torch.cumsum(counts, 0)])


def _repeated(values: Tensor, starts: Tensor, device: torch.device) -> Tensor:
    """Each graph's value for each of its rows, on the device; all else is on the CPU, so that nobody waits for it."""
    counts = starts.diff().to(device)
    return torch.repeat_interleave(values.to(device), counts, output_size=int(starts[-1]))


def batches(stack: Stack, size: int, order: Tensor | None = None) -> Iterator[Data]:
    """The graphs in batches of `size`, in this order or their own; those of _AHEAD batches are gathered at a time."""
    numbers = torch.arange(len(stack)) if order is None else order
    return (batch for some in torch.split(numbers, size * _AHEAD) for batch in stack.chosen(some).cut(size))
