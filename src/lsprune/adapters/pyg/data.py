"""`Data`, `HeteroData`, and a `Batch` of either."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch_geometric.data import Batch, Data, HeteroData

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.batched_store import edge_slices, increments, keep_batched, number_nodes
from lsprune.adapters.pyg.stores import (
    Store,
    connectivity,
    keep_edges,
    node_count,
    read,
    read_on_device,
    with_columns,
    with_labels,
)
from lsprune.adapters.pyg.tensors import features, on_gpu, view
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class DataAdapter(Adapter):
    """Reads `Data` (or a `Batch` of them: one graph with offsets) and rebuilds it with all its other attributes."""

    name: ClassVar[str] = "data"
    about: ClassVar[str] = "a PyG Data, or a Batch of them"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, Data)

    def graphs(self, data: Data) -> Mapping[Key, Graph]:
        store = data._store
        ptr = _offsets(store) if isinstance(data, Batch) else None
        graph = read(store, num_nodes=node_count(store), x=features(store.get("x")), ptr=ptr)
        return {None: with_columns(with_labels(graph, store), store, [store, store], self.columns)}

    def device(self, data: Data) -> Any:
        return _device(data._store)

    def device_graphs(self, data: Data) -> Mapping[Key, Graph]:
        store = data._store
        ptr = _tensor_offsets(store) if isinstance(data, Batch) else None
        graph = read_on_device(store, num_nodes=node_count(store), x=store.get("x"), ptr=ptr)
        return {None: with_labels(graph, store, on_device=True)}

    def rebuild(self, data: Data, kept: Mapping[Key, Kept]) -> Data:
        out = copy.copy(data)
        if None not in kept:
            return out
        if _has_slices(data):
            starts = edge_slices(data._slice_dict, lambda: self.graphs(data)[None])
            out._slice_dict = keep_batched(out._store, kept[None], data._slice_dict, starts, self.columns)
            out._inc_dict = increments(data._inc_dict, out._slice_dict, kept[None], starts)
            if (ptr := _offsets(data._store)) is not None:
                number_nodes(out._store, out._slice_dict, np.diff(ptr))
            return out
        if "adj_t" not in data._store and node_count(data._store) is None:
            # Without edges at its last nodes, PyG would count fewer nodes.
            edges = data.edge_index
            out.num_nodes = int(edges.max()) + 1 if edges.numel() else 0
        keep_edges(out._store, kept[None], columns=self.columns)
        return out


class HeteroDataAdapter(Adapter):
    """Reads `HeteroData` (or a `Batch` of them), one graph for each relation, and rebuilds it."""

    name: ClassVar[str] = "hetero-data"
    about: ClassVar[str] = "a PyG HeteroData, or a Batch of them"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, HeteroData)

    def graphs(self, data: HeteroData) -> Mapping[Key, Graph]:
        return {relation: self._with_columns(data, relation) for relation in relations(data)}

    def _with_columns(self, data: HeteroData, relation: Any) -> Graph:
        ends = [_node_store(data, relation[0]), _node_store(data, relation[2])]
        return with_columns(_relation(data, relation), data[relation], ends, self.columns)

    def device(self, data: HeteroData) -> Any:
        places = {_device(data[relation]) for relation in relations(data)}
        return places.pop() if len(places) == 1 else None

    def device_graphs(self, data: HeteroData) -> Mapping[Key, Graph]:
        return {relation: _relation(data, relation, on_device=True) for relation in relations(data)}

    def rebuild(self, data: HeteroData, kept: Mapping[Key, Kept]) -> HeteroData:
        out = copy.copy(data)
        if not _has_slices(data):
            for relation, part in kept.items():
                keep_edges(out[relation], part)
            return out
        slices, incs = dict(data._slice_dict), dict(data._inc_dict)
        for relation, part in kept.items():
            starts = edge_slices(slices[relation], lambda relation=relation: _relation(data, relation))  # type: ignore[misc]
            slices[relation] = keep_batched(out[relation], part, slices[relation], starts)
            incs[relation] = increments(incs[relation], slices[relation], part, starts)
        out._slice_dict, out._inc_dict = slices, incs
        return out


def relations(data: HeteroData) -> list[tuple[str, str, str]]:
    """Return the edge types that have edges to prune; one with nothing but link labels has none."""
    names = [edge_type for edge_type in data.edge_types if {"edge_index", "adj_t", "adj"} & set(data[edge_type].keys())]
    if not names:
        raise GraphError(f"pruning needs a relation with edge_index [2, E] or a sparse adj_t, got {data.edge_types}")
    return names


def _relation(data: HeteroData, relation: Any, *, on_device: bool = False) -> Graph:
    return replace(_edges_of(data, relation, on_device=on_device), relation=relation)


def _edges_of(data: HeteroData, relation: Any, *, on_device: bool) -> Graph:
    ends = [_node_store(data, relation[0]), _node_store(data, relation[2])]
    counts = [None if store is None else node_count(store) for store in ends]
    x = [None if store is None else store.get("x") for store in ends]
    batched = isinstance(data, Batch) and all(store is not None for store in ends)
    offsets = _tensor_offsets if on_device else _offsets
    ptr = [offsets(store) if batched else None for store in ends]
    reader = read_on_device if on_device else read
    x = x if on_device else [features(rows) for rows in x]
    if relation[0] == relation[2]:
        graph = reader(data[relation], num_nodes=counts[0], x=x[0], ptr=ptr[0])
        return graph if ends[0] is None else with_labels(graph, ends[0], on_device=on_device)
    both = None if ptr[0] is None or ptr[1] is None else (ptr[0], ptr[1])
    return reader(data[relation], num_nodes=_sizes(data[relation], counts), x=(x[0], x[1]), ptr=both)


def _device(store: Store) -> Any:
    """Return the device of the edges of a store if it is a GPU."""
    return next((on_gpu(store[key]) for key in ("edge_index", "adj_t") if key in store), None)


def _sizes(store: Store, counts: list[int | None]) -> tuple[int | None, int | None]:
    """Return the numbers of sources and targets; None where neither the node stores nor a sparse matrix state them."""
    if None in counts and connectivity(store) == "adj_t":
        counts = [
            size if count is None else count for size, count in zip(store["adj_t"].shape[1::-1], counts, strict=True)
        ]
    return counts[0], counts[1]


def _node_store(data: HeteroData, node_type: str) -> Store | None:
    # data[node_type] would create a missing one, on the caller's object.
    return data._node_store_dict.get(node_type)


def _offsets(store: Store) -> Array | None:
    """Return the node offsets `[G + 1]` of a batch, from its `ptr` or `batch` vector; None if it has neither."""
    if "ptr" in store:
        return view(store["ptr"])
    if "batch" not in store:
        return None
    batch = view(store["batch"])
    if np.any(batch[1:] < batch[:-1]):
        raise GraphError("batch must be sorted, so that the nodes of each graph are consecutive")
    return np.concatenate([[0], np.cumsum(np.bincount(batch))])


def _tensor_offsets(store: Store) -> Any:
    """Return what `_offsets` returns as a tensor on the device."""
    if "ptr" in store:
        return store["ptr"]
    if "batch" not in store:
        return None
    batch = store["batch"]
    if bool((batch[1:] < batch[:-1]).any()):
        raise GraphError("batch must be sorted, so that the nodes of each graph are consecutive")
    counts = torch.bincount(batch)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def _has_slices(data: Any) -> bool:
    """Return whether this is a `Batch` that stores where its graphs begin: one made by `from_data_list`."""
    return isinstance(data, Batch) and hasattr(data, "_slice_dict")
