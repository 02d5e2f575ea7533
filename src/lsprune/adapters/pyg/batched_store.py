"""Several graphs in one store, as `Batch` and `InMemoryDataset` hold them, and the slices that divide it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from lsprune.adapters.base import Kept
from lsprune.adapters.pyg.stores import NODE_KEYS, Store, edge_keys, keep_edges, keep_entry
from lsprune.adapters.pyg.tensors import DeviceMask, Mask, kept_before, mask_of, view
from lsprune.graph import Array, Graph

Slices = dict[str, Any]  # for each entry of a store, the offsets [G + 1] of the graphs in it


def edge_slices(slices: Slices, graph_of: Callable[[], Graph]) -> Array:
    """Return the offsets `[G + 1]` of each graph's edges among all the edges of a store; from its graph if need be."""
    if "edge_index" in slices:
        return view(torch.as_tensor(slices["edge_index"])).astype(np.int64)
    graph = graph_of()
    ptr, target = graph.target_ptr, graph.ends()[1]
    assert ptr is not None
    owner = np.searchsorted(ptr[1:], target, side="right")
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(ptr) - 1))])


def keep_batched(store: Store, kept: Kept, slices: Slices, starts: Array, columns: Sequence[str] = ()) -> Slices:
    """Remove the edges that are not kept from the store, which must be our copy; return its new slices.

    `starts` are the `edge_slices` of the store before, `columns` the names that pruners ask for.
    """
    mask = mask_of(kept)
    ends = kept_before(mask, torch.from_numpy(starts))
    before = set(store.keys())
    ready = {key: _keep_pieces(key, store[key], mask, starts) for key in _pieces(store, slices, starts, columns)}
    masked = [key for key in ("edge_index", *edge_keys(store, columns)) if key in slices and key not in ready]
    keep_edges(store, kept, ready=ready, columns=columns)
    new = {key: kept_before(mask, torch.as_tensor(slices[key])).cpu() for key in masked}
    added = [key for key in edge_keys(store) if key not in before or (key == "e_id" and kept.e_id)]
    return {**slices, **new, **dict.fromkeys(added, ends)}


def increments(incs: Slices, slices: Slices, kept: Kept, starts: Array) -> Slices:
    """Return what a batch subtracts from the ids of each graph that is taken out of it, for all entries."""
    none = torch.zeros(len(starts) - 1, dtype=torch.int64)
    new = {key: incs.get(key, none) for key in slices}
    # In the batch, e_id counts the edges of the batch; in a graph taken out of it, those of the graph, as in a list.
    return {**new, "e_id": torch.from_numpy(starts[:-1].copy())} if kept.e_id else new


def number_nodes(store: Store, slices: Slices, counts: Array) -> None:
    """State the number of nodes of each graph in the store, our copy, if only its edges implied it.

    Otherwise PyG would count fewer nodes once the last node of a graph has no edge left.
    """
    edge_index = store.get("edge_index")
    sized = isinstance(edge_index, EdgeIndex) and edge_index.sparse_size() != (None, None)
    stated = "num_nodes" in store or "adj_t" in store or any(key in NODE_KEYS or "node" in key for key in slices)
    if not (stated or sized):
        store.num_nodes = int(counts.sum())
        store._num_nodes = counts.tolist()  # where PyG keeps the single counts


def _pieces(store: Store, slices: Slices, starts: Array, columns: Sequence[str] = ()) -> list[str]:
    """Return the names of edge-level entries that are stored graph by graph: lists, and one number for each graph."""
    single = np.arange(len(starts))
    divided = [key for key in edge_keys(store, columns) if isinstance(slices.get(key), Tensor)]
    return [
        key
        for key in divided
        if isinstance(store[key], list) or (np.array_equal(slices[key], single) and not np.array_equal(starts, single))
    ]


def _keep_pieces(key: str, value: Any, mask: Mask, starts: Array) -> Any:
    if not isinstance(value, list):
        return value  # one number for each graph: nothing to remove
    mask = mask.host if isinstance(mask, DeviceMask) else mask
    return [keep_entry(key, piece, part) for piece, part in zip(value, np.split(mask, starts[1:-1]), strict=True)]
