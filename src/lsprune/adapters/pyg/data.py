"""`Data`, `HeteroData`, and a `Batch` of either."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_geometric.data import Batch, Data, HeteroData

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.batched_store import edge_slices, increments, keep_joined, number_nodes
from lsprune.adapters.pyg.stores import Store, connectivity, keep_edges, node_count, read
from lsprune.adapters.pyg.tensors import features, view
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


def find_one(data: Any) -> Adapter | None:
    """The adapter for one `Data`, `HeteroData` or `Batch`, else None."""
    if isinstance(data, HeteroData):
        return HeteroAdapter()
    return DataAdapter() if isinstance(data, Data) else None


@dataclass(frozen=True)
class DataAdapter:
    """Reads `Data` (or a `Batch` of them: one graph with offsets) and rebuilds it with all its other attributes."""

    def graphs(self, data: Data) -> Mapping[Key, Graph]:
        store = data._store
        ptr = _offsets(store) if isinstance(data, Batch) else None
        return {None: read(store, num_nodes=node_count(store), x=features(store.get("x")), ptr=ptr)}

    def rebuild(self, data: Data, kept: Mapping[Key, Kept]) -> Data:
        out = copy.copy(data)
        if None not in kept:
            return out
        if _is_joined(data):
            graph = self.graphs(data)[None]
            starts = edge_slices(data._slice_dict, graph)
            out._slice_dict = keep_joined(out._store, kept[None], data._slice_dict, starts)
            out._inc_dict = increments(data._inc_dict, out._slice_dict, kept[None], starts)
            if graph.target_ptr is not None:
                number_nodes(out._store, out._slice_dict, np.diff(graph.target_ptr))
            return out
        if node_count(data._store) is None:
            # Without the edges of its last nodes the graph would seem smaller than it is.
            out.num_nodes = self.graphs(data)[None].num_nodes
        keep_edges(out._store, kept[None])
        return out

    def masks(self, data: Data, masks: Mapping[Key, Array]) -> Array:
        return masks[None]


@dataclass(frozen=True)
class HeteroAdapter:
    """Reads `HeteroData` (or a `Batch` of them), one graph for each relation, and rebuilds it."""

    def graphs(self, data: HeteroData) -> Mapping[Key, Graph]:
        return {relation: _relation(data, relation) for relation in relations(data)}

    def rebuild(self, data: HeteroData, kept: Mapping[Key, Kept]) -> HeteroData:
        out = copy.copy(data)
        if not _is_joined(data):
            for relation, one in kept.items():
                keep_edges(out[relation], one)
            return out
        slices, incs = dict(data._slice_dict), dict(data._inc_dict)
        for relation, one in kept.items():
            starts = edge_slices(slices[relation], _relation(data, relation))
            slices[relation] = keep_joined(out[relation], one, slices[relation], starts)
            incs[relation] = increments(incs[relation], slices[relation], one, starts)
        out._slice_dict, out._inc_dict = slices, incs
        return out

    def masks(self, data: HeteroData, masks: Mapping[Key, Array]) -> dict[Key, Array]:
        return dict(masks)


def relations(data: HeteroData) -> list[tuple[str, str, str]]:
    """The edge types that have edges to prune; one with link labels only has none."""
    found = [edge_type for edge_type in data.edge_types if {"edge_index", "adj_t", "adj"} & set(data[edge_type].keys())]
    if not found:
        raise GraphError(f"pruning needs a relation with edge_index [2, E] or a sparse adj_t, got {data.edge_types}")
    return found


def _relation(data: HeteroData, relation: Any) -> Graph:
    ends = [_node_store(data, relation[0]), _node_store(data, relation[2])]
    counts = [None if store is None else node_count(store) for store in ends]
    x = [None if store is None else features(store.get("x")) for store in ends]
    batched = isinstance(data, Batch) and all(store is not None for store in ends)
    ptr = [_offsets(store) if batched else None for store in ends]
    if relation[0] == relation[2]:
        return read(data[relation], num_nodes=counts[0], x=x[0], ptr=ptr[0])
    both = None if ptr[0] is None or ptr[1] is None else (ptr[0], ptr[1])
    return read(data[relation], num_nodes=_sizes(data[relation], counts), x=(x[0], x[1]), ptr=both)


def _sizes(store: Store, counts: list[int | None]) -> tuple[int, int]:
    """Numbers of sources and targets; those that the node stores leave open come from the edges."""
    key = connectivity(store)
    value = store[key]
    guess = tuple(value.shape[1::-1]) if key == "adj_t" else [int(n) + 1 for n in view(value).max(1, initial=-1)]
    first, second = (guess[i] if count is None else count for i, count in enumerate(counts))
    return int(first), int(second)


def _node_store(data: HeteroData, node_type: str) -> Store | None:
    # data[node_type] would create a missing one, on the caller's object.
    return data._node_store_dict.get(node_type)


def _offsets(store: Store) -> Array | None:
    """Node offsets `[G + 1]` of a batch: its `ptr`, or what its `batch` vector says; None when it has neither."""
    if "ptr" in store:
        return view(store["ptr"])
    if "batch" not in store:
        return None
    batch = view(store["batch"])
    if np.any(batch[1:] < batch[:-1]):
        raise GraphError("batch must be sorted: the nodes of each graph stand together")
    return np.concatenate([[0], np.cumsum(np.bincount(batch))])


def _is_joined(data: Any) -> bool:
    """True for a `Batch` that notes where its graphs begin, so one made by `from_data_list`."""
    return isinstance(data, Batch) and hasattr(data, "_slice_dict")
