"""The stored arrays of a dataset, in host memory or on a device, read and masked without a loop over its graphs."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from lsprune.adapters.base import Kept
from lsprune.adapters.pyg.batched_store import keep_batched, number_nodes
from lsprune.adapters.pyg.stores import NODE_KEYS, connectivity
from lsprune.adapters.pyg.tensors import edge_weight, edges_on_device, view
from lsprune.errors import GraphError, NoGpuPath, naming_graph
from lsprune.graph import UNUSABLE_MASK, Array, Graph
from lsprune.graph_arrays import inferred_count


@dataclass(frozen=True)
class StoredArrays:
    """The stored arrays of a dataset of `Data` with `edge_index`, in host memory."""

    data: Data
    slices: dict[str, Any]
    selected: Array | None  # [G] numbers of the selected graphs, None for all of them

    @staticmethod
    def fits(dataset: InMemoryDataset) -> bool:
        """Return whether the dataset is stored that way; any other is read graph by graph."""
        data, slices = dataset._data, dataset.slices
        if not isinstance(data, Data) or slices is None or "edge_index" not in slices:
            return False
        names = [key for key in ("edge_index", "x", "edge_attr") if key in data]
        plain = all(type(data[key]) is Tensor and data[key].layout == torch.strided for key in names)
        once = dataset._indices is None or len(set(dataset._indices)) == len(dataset._indices)
        return plain and once and slices.keys() >= set(names) and connectivity(data._store) == "edge_index"

    @classmethod
    def of(cls, dataset: InMemoryDataset) -> Self:
        selected = None if dataset._indices is None else np.asarray(dataset._indices, dtype=np.int64)
        return cls(dataset._data, dict(dataset.slices), selected)

    def offsets(self, key: str) -> Array:
        return view(torch.as_tensor(self.slices[key])).astype(np.int64)

    def edge_counts(self) -> Array:
        counts = np.diff(self.offsets("edge_index"))
        return counts if self.selected is None else counts[self.selected]

    def node_counts(self) -> Array:
        """Return the numbers of nodes `[G]` of all stored graphs, from where PyG reads the number of a single one."""
        store = self.data._store
        noted = store.__dict__.get("_num_nodes", store.get("num_nodes", []))
        noted = np.atleast_1d(view(noted) if isinstance(noted, Tensor) else noted)
        if len(noted) == len(self.offsets("edge_index")) - 1:  # not the mere sum that PyG also keeps
            return noted.astype(np.int64)
        stated = [key for key in store if key in NODE_KEYS] or [key for key in store if "node" in key]
        for key in stated:
            if isinstance(store[key], Tensor) and isinstance(self.slices.get(key), Tensor):
                return np.diff(self.offsets(key))
        highest = self.highest_ids()
        inferred_count(int(highest.max(initial=-1)), int(self.offsets("edge_index")[-1]))
        return highest + 1

    def highest_ids(self) -> Array:
        """Return the largest id `[G]` in the edges of each stored graph; -1 for graphs without edges."""
        starts = self.offsets("edge_index")
        filled = np.flatnonzero(np.diff(starts))  # reduceat gives nonsense for an empty stretch
        highest = np.full(len(starts) - 1, -1, dtype=np.int64)
        if filled.size:
            highest[filled] = np.maximum.reduceat(view(self.data.edge_index).max(axis=0), starts[filled])
        return highest

    def graph(self) -> Graph:
        counts = self.node_counts() if self.selected is None else self.node_counts()[self.selected]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        source, target = self.ends()
        _check_local(source, target, counts, self.edge_counts())
        self.check_rows(counts)
        shift = np.repeat(ptr[:-1], self.edge_counts())
        graph = Graph.from_edges(
            (source + shift, target + shift), num_nodes=int(ptr[-1]), ptr=ptr,
            x=self.features("x"), edge_attr=self.features("edge_attr"), y=self.labels("y", counts),
            edge_weight=edge_weight(self.labels("edge_weight", self.edge_counts()), source.shape[0]),
        )  # fmt: skip
        return replace(graph, train_mask=self.train_mask(counts), unusable_y=self.has_unusable(graph.y))

    def check_rows(self, counts: Array) -> None:
        """Raise GraphError for the first graph whose attributes do not have a row for each node or edge."""
        for name, wanted, items in (("x", counts, "node"), ("edge_attr", self.edge_counts(), "edge")):
            if name in self.data:
                sizes = np.diff(self.offsets(name))
                found = sizes if self.selected is None else sizes[self.selected]
                wrong = np.flatnonzero(found != wanted)
                if wrong.size:
                    with naming_graph(int(wrong[0])):
                        rows, got = wanted[wrong[0]], found[wrong[0]]
                        raise GraphError(f"{name} must have {rows} rows, one for each {items}, got {got}")

    def train_mask(self, counts: Array) -> Any:
        """Return the mask of training nodes; UNUSABLE_MASK if there is one that does not fit the nodes."""
        mask = self.labels("train_mask", counts)
        return UNUSABLE_MASK if mask is None and "train_mask" in self.data else mask

    def has_unusable(self, y: Any) -> bool:
        """Return whether there are labels that do not fit the nodes."""
        return y is None and self.data._store.get("y") is not None

    def labels(self, key: str, counts: Array) -> Array | None:
        """Return labels or a mask of the nodes; None where an entry does not have a row for each node."""
        stored = isinstance(self.data._store.get(key), Tensor) and isinstance(self.slices.get(key), Tensor)
        sizes = np.diff(self.offsets(key)) if stored else np.empty(0)
        chosen = sizes if self.selected is None or not stored else sizes[self.selected]
        return self.features(key) if stored and np.array_equal(chosen, counts) else None

    def ends(self) -> Array:
        """Return sources and targets `[2, E]` of the selected graphs; the ids of each graph begin at 0."""
        edge_index, edges = view(self.data.edge_index), self.rows("edge_index")
        if edge_index.ndim != 2 or edge_index.shape[0] != 2:
            raise GraphError(f"edge_index must have shape [2, E], got {list(edge_index.shape)}")
        return edge_index if edges is None else edge_index[:, edges]

    def features(self, key: str) -> Array | None:
        if key not in self.data:
            return None
        rows = self.rows(key)
        return view(self.data[key]) if rows is None else view(self.data[key])[rows]

    def rows(self, key: str) -> Any:
        """Return the positions of the selected graphs' entries in the stored array; None for all of them."""
        if self.selected is None:
            return None
        starts = self.offsets(key)[:-1][self.selected]
        counts = np.diff(self.offsets(key))[self.selected]
        return self.repeat(starts - np.cumsum(counts) + counts, counts) + self.arange(int(counts.sum()))

    def repeat(self, values: Array, counts: Array) -> Any:
        """Repeat the value of each graph."""
        return np.repeat(values, counts)

    def arange(self, count: int) -> Any:
        """Count from 0."""
        return np.arange(count)

    def ones(self, count: int, kind: type) -> Any:
        """Return so many ones of a type: bool, or float as float32."""
        return np.ones(count, dtype=np.float32 if kind is float else kind)

    def keep(self, kept: Kept, columns: tuple[str, ...] = ()) -> tuple[Data, dict[str, Any]]:
        """Return the stored object and its slices without the edges that are not kept."""
        out, starts = copy.copy(self.data), self.offsets("edge_index")
        whole = self.spread(kept)
        slices = keep_batched(out._store, whole, self.slices, starts, columns)
        if kept.e_id:
            first = self.repeat(starts[:-1], np.diff(view(slices["e_id"])))
            out.e_id = out.e_id - torch.as_tensor(first).to(out.e_id.device)
        number_nodes(out._store, slices, self.node_counts())
        return out, slices

    def spread(self, kept: Kept) -> Kept:
        """Return what to keep of all stored edges: the graphs that are not selected stay whole."""
        edges = self.rows("edge_index")
        if edges is None:
            return kept
        stored = int(self.offsets("edge_index")[-1])
        mask = self.ones(stored, bool)
        mask[edges] = kept.mask
        weight = None if kept.weight is None else self.ones(stored, float)
        if weight is not None:
            weight[edges] = kept.weight
        return replace(kept, mask=mask, weight=weight, count=None)


@dataclass(frozen=True)
class StoredTensors(StoredArrays):
    """The same on a device, where entries stay; the offsets of the graphs are arrays in host memory."""

    @property
    def device(self) -> Any:
        """Where the edges are."""
        return self.data.edge_index.device

    def highest_ids(self) -> Array:
        edges = np.diff(self.offsets("edge_index"))
        highest = torch.full(edges.shape, -1, dtype=torch.int64, device=self.device)
        of_edge = self.repeat(np.arange(edges.shape[0]), edges)
        return view(highest.scatter_reduce_(0, of_edge, self.data.edge_index.long().amax(0), "amax"))

    def graph(self) -> Graph:
        counts, edges = self.node_counts(), self.edge_counts()
        counts = counts if self.selected is None else counts[self.selected]
        ends, limit = self.ends(), self.repeat(counts, edges)
        if bool(((ends < 0) | (ends >= limit)).any()):
            _check_local(view(ends[0]), view(ends[1]), counts, edges)  # raises
        self.check_rows(counts)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        graph = edges_on_device(
            ends + self.repeat(ptr[:-1], edges), num_nodes=int(ptr[-1]), ptr=torch.from_numpy(ptr).to(self.device),
            x=self.features("x"), edge_attr=self.features("edge_attr"),
        )  # fmt: skip
        here = [name for name in ("y", "train_mask") if getattr(self.data._store.get(name), "device", 0) == self.device]
        labels: dict[str, Any] = {"y": self.labels("y", counts) if "y" in here else None}
        labels["unusable_y"] = self.has_unusable(labels["y"])
        if "train_mask" in self.data:
            labels["train_mask"] = self.train_mask(counts) if "train_mask" in here else UNUSABLE_MASK
        if getattr(self.data._store.get("edge_weight"), "device", 0) == self.device:
            labels["edge_weight"] = edge_weight(self.labels("edge_weight", edges), graph.num_edges)
        return replace(graph, **labels)

    def ends(self) -> Any:
        if self.data.edge_index.dim() != 2 or self.data.edge_index.shape[0] != 2:
            raise GraphError(f"edge_index must have shape [2, E], got {list(self.data.edge_index.shape)}")
        edges = self.rows("edge_index")
        return self.data.edge_index if edges is None else self.data.edge_index[:, edges]

    def features(self, key: str) -> Any:
        if key not in self.data:
            return None
        if self.data[key].device != self.device:
            raise NoGpuPath(f"{key} must be on the device of the edges ({self.device}) for the GPU path")
        rows = self.rows(key)
        return self.data[key] if rows is None else self.data[key][rows]

    def repeat(self, values: Array, counts: Array) -> Any:
        both = (torch.from_numpy(array).to(self.device) for array in (values, counts))
        return torch.repeat_interleave(*both, output_size=int(counts.sum()))

    def arange(self, count: int) -> Any:
        return torch.arange(count, device=self.device)

    def ones(self, count: int, kind: type) -> Any:
        return torch.ones(count, dtype=torch.float32 if kind is float else torch.bool, device=self.device)


def _check_local(source: Array, target: Array, nodes: Array, edges: Array) -> None:
    """Raise GraphError for an id past the end of its graph, which would be a node of the next graph."""
    limit = np.repeat(nodes, edges)
    wrong = np.flatnonzero((source < 0) | (target < 0) | (source >= limit) | (target >= limit))
    if wrong.size:
        graph = int(np.searchsorted(np.cumsum(edges), wrong[0], side="right"))
        with naming_graph(graph):
            raise GraphError(f"edge_index ids must be in [0, {nodes[graph]}), the number of its nodes")
