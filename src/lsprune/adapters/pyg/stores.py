"""Which entries of a PyG store belong to its edges, by name, and how a mask is applied to them.

PyG's own `is_edge_attr` compares lengths, so on a graph with as many nodes as edges it takes node labels for edge
attributes. Here the name decides. In a `Data`, these are edge-level: `edge_index` or `adj_t`, `e_id`, and every name
that starts with `edge_`, except `edge_label...` (and all else that is about links to be predicted: `link_labels`) and
names with `index` in them (another set of edges). Times (`t`, `time`, `timestamp`), and what a pruner asks for by name
(`columns`), are edge-level if they have an entry for each edge and not for each node. All else stays whole: `x`, `y`,
`train_mask`. A relation of a `HeteroData` holds nothing about nodes, so there other names (`rating`, `train_mask`) are
edge-level too, given an entry for each edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric import EdgeIndex
from torch_geometric.data.storage import EdgeStorage, NodeStorage

from lsprune.adapters.base import Kept
from lsprune.adapters.numeric_attribute import attribute_column
from lsprune.adapters.pyg.edge_index import keep_edge_index
from lsprune.adapters.pyg.link_labels import is_link_label, mark_pruned, warn_pruned_before_split
from lsprune.adapters.pyg.tensors import (
    DeviceMask,
    Mask,
    compress,
    edge_weight,
    edges_on_device,
    features,
    keep_sparse,
    kept_before,
    kept_weights,
    mask_of,
    num_entries,
    scale,
    sparse_graph,
    sparse_graph_on_device,
    take,
    view,
)
from lsprune.checks import count_of
from lsprune.errors import EdgeEntryWarning, GraphError, NoGpuPath, warn
from lsprune.graph import UNUSABLE_MASK, Graph

Store = Any  # a BaseStorage of PyG: GlobalStorage (Data) or EdgeStorage (a relation of HeteroData)
NODE_KEYS = ("x", "feat", "pos", "batch", "node_type", "n_id", "tf")  # where PyG looks for the number of nodes
TIME_KEYS = ("t", "time", "timestamp")  # of a `Data`, entries of the nodes or of the edges, whichever they fit
_CONNECTIVITY = ("edge_index", "adj_t", "adj")
_WITHOUT_LENGTH = (str, bytes, int, float, type(None))


def connectivity(store: Store) -> str:
    """Return `"edge_index"` or `"adj_t"`, whichever holds the edges of the store."""
    present = store._mapping  # `in` on the store itself raises and catches an error for each name that is not there
    names = [key for key in _CONNECTIVITY if key in present]
    if len(names) > 1:
        raise GraphError(f"the edges are held twice, in {' and '.join(names)}; delete one of them before pruning")
    if not names or names[0] == "adj":
        raise GraphError(f"pruning needs edge_index [2, E] or a sparse adj_t, got only {sorted(store.keys())}")
    value = store[names[0]]
    sparse = isinstance(value, Tensor) and value.layout != torch.strided
    if not isinstance(value, Tensor) or sparse != (names[0] == "adj_t"):
        wanted = "a dense tensor [2, E]" if names[0] == "edge_index" else "a torch.sparse matrix"
        advice = "; see adj_t.to_torch_sparse_csr_tensor()" if hasattr(value, "to_torch_sparse_csr_tensor") else ""
        raise GraphError(f"{names[0]} must be {wanted}, got {type(value).__name__}{advice}")
    return names[0]


def read(store: Store, *, num_nodes: Any, x: Any, ptr: Any = None) -> Graph:
    """Return the graph of one store."""
    key = connectivity(store)
    warn_pruned_before_split(store)
    rest = {"num_nodes": num_nodes, "x": x, "edge_attr": features(store.get("edge_attr")), "ptr": ptr}
    if key == "adj_t":
        graph = sparse_graph(store[key], rows="target", **rest)
    else:
        graph = Graph.from_edges(view(store[key]), **rest)
    weight = edge_weight(store.get("edge_weight"), graph.num_edges)
    return graph if weight is None else replace(graph, edge_weight=features(weight))


def read_on_device(store: Store, *, num_nodes: Any, x: Any, ptr: Any = None) -> Graph:
    """Return the graph of one store whose tensors are on a device, without a copy."""
    key = connectivity(store)
    warn_pruned_before_split(store)
    edges, rest = store[key], {"num_nodes": num_nodes, "x": x, "edge_attr": store.get("edge_attr")}
    moved = [None if part is None else part.to(edges.device) for part in (ptr if isinstance(ptr, tuple) else (ptr,))]
    rest["ptr"] = tuple(moved) if isinstance(ptr, tuple) else moved[0]
    weight = edge_weight(store.get("edge_weight"), edge_count(store))
    for name, rows in (("x", rest["x"]), ("edge_attr", rest["edge_attr"]), ("edge_weight", weight)):
        both = rows if isinstance(rows, tuple) else (rows,)
        if any(not isinstance(rows, Tensor) or rows.device != edges.device for rows in both if rows is not None):
            raise NoGpuPath(f"{name} must be on the device of the edges ({edges.device}) for the GPU path")
    if key == "adj_t":
        graph = sparse_graph_on_device(edges, rows="target", **rest)
    else:
        graph = edges_on_device(edges.as_tensor() if isinstance(edges, EdgeIndex) else edges, **rest)
    return graph if weight is None else replace(graph, edge_weight=weight)


def with_labels(graph: Graph, store: Store, *, on_device: bool = False) -> Graph:
    """Return the graph with `y` and `train_mask` of the store, where these have a row for each node.

    It is noted if they do not, so that learning from labels is an error: without a mask, all labels may be looked at.
    """
    labels: dict[str, Any] = {}
    for name in ("y", "train_mask"):
        rows = store.get(name)
        dense = isinstance(rows, np.ndarray) or (isinstance(rows, Tensor) and rows.layout == torch.strided)
        if dense and rows.ndim and rows.shape[0] == graph.num_nodes:
            labels[name] = rows if on_device or isinstance(rows, np.ndarray) else view(rows)
    if store.get("train_mask") is not None and "train_mask" not in labels:
        labels["train_mask"] = UNUSABLE_MASK
    if store.get("y") is not None and "y" not in labels:
        labels["unusable_y"] = True
    return replace(graph, **labels) if labels else graph


def edge_count(store: Store) -> int:
    """Return the number of edges, from the connectivity alone."""
    key = connectivity(store)
    return int(store[key].shape[1]) if key == "edge_index" else num_entries(store[key])


def node_count(store: Store) -> int | None:
    """Return the number of nodes that the store states; None if PyG would guess it from the largest id."""
    if store.get("num_nodes") is not None:
        return count_of(store["num_nodes"], "num_nodes")
    stated = any(
        isinstance(value, (Tensor, np.ndarray)) and (key in NODE_KEYS or "node" in key) or key == "tf"
        for key, value in store.items()
    )
    edge_index = store.get("edge_index")
    sized = isinstance(edge_index, EdgeIndex) and edge_index.sparse_size() != (None, None)
    return int(store.num_nodes) if stated or sized or "adj_t" in store else None


def is_edge_level(store: Store, key: str, columns: Sequence[str] = ()) -> bool:
    """Return whether a mask over the edges applies to this entry; by name, see the top of this module."""
    if key in ("e_id", "e_id_batch", "edge_index_batch"):  # _batch: which graph each entry is from (follow_batch)
        return True
    if key in _CONNECTIVITY or "index" in key or is_link_label(store, key) or key.endswith("_ptr"):
        return False
    if key.startswith("edge_"):
        return True
    relation = isinstance(store, EdgeStorage) and not isinstance(store, NodeStorage)
    if not relation and key not in (*TIME_KEYS, *columns):
        return False
    fits_edges = _length(store[key], _edge_dim(store, key)) == edge_count(store)
    return fits_edges and (relation or edge_count(store) != _nodes(store))


def edge_keys(store: Store, columns: Sequence[str] = ()) -> list[str]:
    """Return the names of the edge-level entries, without the connectivity."""
    return [key for key in store if is_edge_level(store, key, columns)]


def _nodes(store: Store) -> int:
    """Return the number of nodes of a `Data`; from its edges, if nothing states it."""
    count = node_count(store)
    if count is None:
        edges = store["edge_index"]
        count = int(edges.max()) + 1 if edges.numel() else 0
    return count


def with_columns(graph: Graph, store: Store, nodes: Sequence[Store | None], columns: Sequence[str]) -> Graph:
    """Return the graph with the entries that are asked for by name: of the edges, of the nodes of either end, or both.

    Args:
        store: the one with the edges. nodes: the stores of sources and targets; those of a `Data` are all the same.
    """
    one_store = any(other is store for other in nodes)
    edge_columns: dict[str, Any] = {}
    node_columns: dict[str, Any] = {}
    for name in columns:
        if one_store and name in store:
            item = _item(graph, store, name)
            (edge_columns if item == "edge" else node_columns)[name] = _column(store[name], name)
            continue
        if name in store:
            edge_columns[name] = _column(store[name], name)
        ends = [_column(other[name], name) if other is not None and name in other else None for other in nodes]
        if any(end is not None for end in ends):
            node_columns[name] = tuple(ends) if graph.bipartite else ends[0]
    there = dict.fromkeys(key for other in (store, *nodes) if other is not None for key in other)
    return graph.with_columns(edge_columns, node_columns, tuple(there))


def _item(graph: Graph, store: Store, name: str) -> str:
    """Return whether an entry of a `Data` is of its edges or of its nodes; raise GraphError if that is not clear."""
    if is_edge_level(store, name, (name,)):
        return "edge"
    length = _length(store[name], _edge_dim(store, name))
    if length != graph.num_nodes:
        counts = f"{graph.num_edges} edges or of the {graph.num_nodes} nodes"
        raise GraphError(f"{name} must have an entry for each of the {counts}, got {length}")
    if length == graph.num_edges and "node" not in name:
        raise GraphError(
            f"{name} has {length} entries, and there are as many edges as nodes: call it edge_{name} if it belongs to "
            f"the edges, node_{name} if it belongs to the nodes"
        )
    return "node"


def _column(values: Any, name: str) -> Any:
    """Return an entry as an array, whole numbers as they are."""
    if isinstance(values, Tensor):
        if values.layout != torch.strided:
            raise GraphError(f"column {name!r} must be a dense tensor, got {values.layout}")
        return view(values)
    return attribute_column(list(values), name) if isinstance(values, (list, tuple)) else values


def keep_edges(
    store: Store, kept: Kept, *, ready: Mapping[str, Any] | None = None, columns: Sequence[str] = ()
) -> None:
    """Remove the edges that are not kept from all edge-level entries of the store, which must be our copy.

    `ready` has the new values of entries that are not stored edge by edge, as in a batch.
    """
    key, mask, new = connectivity(store), mask_of(kept), dict(ready or {})
    assert mask.shape == (edge_count(store),), "the mask was made for another graph"
    for name in edge_keys(store, columns):
        if name not in new:
            new[name] = keep_entry(name, store[name], mask, _edge_dim(store, name))
    new.update(_keep_counts(store, mask, columns))
    if key == "adj_t":
        new[key] = keep_sparse(store[key], kept, mask)
    else:
        new[key] = keep_edge_index(store[key], mask)
        if kept.weight is not None:
            new["edge_weight"] = _weights(new.get("edge_weight"), kept_weights(kept, mask), store[key].device)
    if kept.e_id:
        positions = mask.positions if isinstance(mask, DeviceMask) else torch.from_numpy(np.flatnonzero(mask))
        new["e_id"] = positions.to(store[key].device)
    for name, value in new.items():
        store[name] = value
    if edge_count(store) < mask.shape[0]:
        mark_pruned(store)
        _warn_whole(store, mask.shape[0])


def _warn_whole(store: Store, edges: int) -> None:
    """Warn of entries of a `Data` that have a row for each of so many edges and stayed whole."""
    if isinstance(store, EdgeStorage) and not isinstance(store, NodeStorage):
        return
    left = [key for key in store if _looks_like_edges(store, key, edges)]
    if left and _nodes(store) != edges:
        names = ", ".join(map(repr, left))
        warn(
            f"not pruned, because no name says that it is about edges: {names}, with a row for each edge; a name that "
            f"begins with edge_ does, for example edge_{left[0]}",
            EdgeEntryWarning,
        )


def _looks_like_edges(store: Store, key: str, edges: int) -> bool:
    """Return whether an entry that is not about edges by its name has so many rows."""
    if is_edge_level(store, key) or key in _CONNECTIVITY or "index" in key or is_link_label(store, key):
        return False
    value = store[key]
    return isinstance(value, (Tensor, np.ndarray)) and value.ndim > 0 and value.shape[0] == edges


def keep_entry(key: str, value: Any, mask: Mask, dim: int = 0) -> Any:
    """Return `value` for the kept edges; a number, a string or None is not about single edges and stays."""
    if isinstance(value, _WITHOUT_LENGTH) or getattr(value, "ndim", 1) == 0:
        return value
    length = _length(value, dim)
    if length != mask.shape[0]:
        text = f"a {type(value).__name__}" if length is None else f"{length} entries"
        raise GraphError(
            f"{key} must have one entry for each of the {mask.shape[0]} edges, got {text}; "
            "rename what does not belong to the edges: names that start with edge_ do"
        )
    if isinstance(value, Tensor):
        return take(value, mask, dim)
    if isinstance(value, np.ndarray):
        return compress(value, mask, dim)
    keeps = (mask.host if isinstance(mask, DeviceMask) else mask).tolist()
    return type(value)(entry for entry, keep in zip(value, keeps, strict=True) if keep)


def _length(value: Any, dim: int) -> int | None:
    if isinstance(value, (Tensor, np.ndarray)):
        return int(value.shape[dim]) if value.ndim else None
    return len(value) if type(value) in (list, tuple) else None


def _edge_dim(store: Store, key: str) -> int:
    # A subclass of Data may concatenate an attribute along another dimension than the first, which then counts edges.
    dim = store._parent().__cat_dim__(key, store[key], store)
    return dim if isinstance(dim, int) else 0


def _keep_counts(store: Store, mask: Mask, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return the counts of edges that a store may hold, for the kept edges: in all, per hop, up to each graph."""
    counts: dict[str, Any] = {}
    for key in (key for key in store if key.endswith("_ptr")):  # from follow_batch
        entry = key.removesuffix("_ptr")
        if entry == "edge_index" or (entry in store and is_edge_level(store, entry, columns)):
            counts[key] = kept_before(mask, store[key])
    if isinstance(store.get("num_edges"), int):
        counts["num_edges"] = mask.count if isinstance(mask, DeviceMask) else int(np.count_nonzero(mask))
    hops = store.get("num_sampled_edges")  # trim_to_layer cuts the edges by these numbers, hop after hop
    if isinstance(hops, list) and all(isinstance(hop, int) for hop in hops) and sum(hops) == mask.shape[0]:
        counts["num_sampled_edges"] = kept_before(mask, torch.tensor([0, *hops]).cumsum(0)).diff().tolist()
    return counts


def _weights(present: Any, factors: Any, device: torch.device) -> Any:
    return torch.as_tensor(factors).to(device) if present is None else scale(present, factors)
