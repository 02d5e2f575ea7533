"""`InMemoryDataset`: its graphs are read as one graph with node offsets, without a loop where it stores arrays."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.data.separate import separate

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.batched_store import keep_batched, number_nodes
from lsprune.adapters.pyg.lists import ListAdapter, split
from lsprune.adapters.pyg.stores import NODE_KEYS, connectivity
from lsprune.adapters.pyg.tensors import view
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class DatasetAdapter(Adapter):
    """Reads an `InMemoryDataset`, or the part of it that an index selects, and rebuilds a dataset.

    The stored graphs are pruned, before the dataset's `transform`. Neither the files nor the given object change.
    Graphs outside of the selection stay whole, and are not selected in the rebuilt dataset either.
    """

    name: ClassVar[str] = "dataset"
    about: ClassVar[str] = "a PyG InMemoryDataset"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, InMemoryDataset)

    def graphs(self, data: InMemoryDataset) -> Mapping[Key, Graph]:
        if _StoredArrays.fits(data):
            return {None: _StoredArrays.of(data).graph()}
        graphs = _listed(data)
        return ListAdapter().graphs(graphs) if graphs else {None: Graph.from_edges(np.empty((2, 0)), ptr=[0])}

    def rebuild(self, data: InMemoryDataset, kept: Mapping[Key, Kept]) -> InMemoryDataset:
        out = copy.copy(data)
        out._data_list = None
        if not kept:
            return out
        if _StoredArrays.fits(data):
            out._data, out.slices = _StoredArrays.of(data).keep(kept[None])
        elif graphs := _listed(data):
            out._data, out.slices = data.collate(ListAdapter().rebuild(graphs, kept))
            out._indices = None
        return out

    def masks(self, data: InMemoryDataset, masks: Mapping[Key, Array]) -> list[Any]:
        if _StoredArrays.fits(data):
            return split(masks[None], _StoredArrays.of(data).edge_counts())
        return ListAdapter().masks(_listed(data), masks)


def _listed(dataset: InMemoryDataset) -> list[Any]:
    """Return the stored graphs one by one; `dataset.get` would fill the cache of the caller's object."""
    if dataset.len() == 1:
        return [copy.copy(dataset._data) for _ in dataset.indices()]
    stored = dataset._data
    return [separate(type(stored), stored, i, dataset.slices, decrement=False) for i in dataset.indices()]


@dataclass(frozen=True)
class _StoredArrays:
    """The stored arrays of a dataset of `Data` with `edge_index`, read and masked without a loop over the graphs."""

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
    def of(cls, dataset: InMemoryDataset) -> _StoredArrays:
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
        noted = np.atleast_1d(store.__dict__.get("_num_nodes", store.get("num_nodes", [])))
        if len(noted) == len(self.offsets("edge_index")) - 1:  # not the mere sum that PyG also keeps
            return noted.astype(np.int64)
        stated = [key for key in store if key in NODE_KEYS] or [key for key in store if "node" in key]
        for key in stated:
            if isinstance(store[key], Tensor) and isinstance(self.slices.get(key), Tensor):
                return np.diff(self.offsets(key))
        starts = self.offsets("edge_index")
        filled = np.flatnonzero(np.diff(starts))  # reduceat gives nonsense for an empty stretch
        counts = np.zeros(len(starts) - 1, dtype=np.int64)
        if filled.size:
            counts[filled] = np.maximum.reduceat(view(self.data.edge_index).max(axis=0), starts[filled]) + 1
        return counts

    def graph(self) -> Graph:
        counts = self.node_counts() if self.selected is None else self.node_counts()[self.selected]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        source, target = self.ends()
        _check_local(source, target, counts, self.edge_counts())
        shift = np.repeat(ptr[:-1], self.edge_counts())
        return Graph.from_edges(
            (source + shift, target + shift), num_nodes=int(ptr[-1]), ptr=ptr,
            x=self.features("x"), edge_attr=self.features("edge_attr"),
        )  # fmt: skip

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

    def rows(self, key: str) -> Array | None:
        """Return the positions of the selected graphs' entries in the stored array; None for all of them."""
        if self.selected is None:
            return None
        starts = self.offsets(key)[:-1][self.selected]
        counts = np.diff(self.offsets(key))[self.selected]
        before = np.cumsum(counts) - counts
        return np.repeat(starts - before, counts) + np.arange(counts.sum())

    def keep(self, kept: Kept) -> tuple[Data, dict[str, Any]]:
        """Return the stored object and its slices without the edges that are not kept."""
        out, starts = copy.copy(self.data), self.offsets("edge_index")
        whole = self.spread(kept)
        slices = keep_batched(out._store, whole, self.slices, starts)
        if kept.e_id:
            local = out.e_id.cpu().numpy() - np.repeat(starts[:-1], np.diff(view(slices["e_id"])))
            out.e_id = torch.from_numpy(local).to(out.e_id.device)
        number_nodes(out._store, slices, self.node_counts())
        return out, slices

    def spread(self, kept: Kept) -> Kept:
        """Return what to keep of all stored edges: the graphs that are not selected stay whole."""
        edges = self.rows("edge_index")
        if edges is None:
            return kept
        mask = np.ones(self.offsets("edge_index")[-1], dtype=bool)
        mask[edges] = kept.mask
        weight = None if kept.weight is None else np.ones(mask.shape[0], dtype=np.float32)
        if weight is not None:
            weight[edges] = kept.weight
        return replace(kept, mask=mask, weight=weight)


def _check_local(source: Array, target: Array, nodes: Array, edges: Array) -> None:
    """Raise GraphError for an id past the end of its graph, which would be a node of the next graph."""
    limit = np.repeat(nodes, edges)
    wrong = np.flatnonzero((source < 0) | (target < 0) | (source >= limit) | (target >= limit))
    if wrong.size:
        graph = int(np.searchsorted(np.cumsum(edges), wrong[0], side="right"))
        raise GraphError(f"edge_index ids of graph {graph} must be in [0, {nodes[graph]}), the number of its nodes")
