"""PyG's `EdgeIndex`: edges with a sort order, a size, and whether every edge has its reverse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric import EdgeIndex

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.tensors import Mask, edges_on_device, kept_before, mask_of, on_gpu, take, view
from lsprune.graph import Graph


def keep_edge_index(edge_index: Tensor, mask: Mask) -> Tensor:
    """Return the kept columns of `edge_index` `[2, E]`; an `EdgeIndex` stays one.

    Order and size stay as they are. `is_undirected` stays if the kept edges are still symmetric. What PyG caches of an
    `EdgeIndex` (pointers, permutations) is not carried over.
    """
    if not isinstance(edge_index, EdgeIndex):
        return take(edge_index, mask, dim=1)
    kept = take(edge_index.as_tensor(), mask, dim=1)
    unpaired = _unpaired(kept) if _claims_symmetry(edge_index) else None
    out = EdgeIndex(
        kept,
        sparse_size=edge_index.sparse_size(),
        sort_order=edge_index.sort_order,
        is_undirected=edge_index.is_undirected and unpaired is not None and not bool(unpaired.any()),
    )
    out._cat_metadata = _keep_metadata(edge_index, mask, unpaired)
    result: Tensor = out
    return result


def _claims_symmetry(edge_index: EdgeIndex) -> bool:
    parts = edge_index._cat_metadata
    return edge_index.is_undirected or (parts is not None and any(parts.is_undirected))


def _unpaired(edge_index: Tensor) -> Tensor:
    """Return where the sorted edges and the sorted reverse edges differ, `[E]` bool: nowhere for a symmetric graph.

    Duplicates count, as in `EdgeIndex.validate`. Graphs joined one after another differ only at their own positions,
    because both sorts keep them apart.
    """
    source, target = edge_index.long()
    width = int(edge_index.max()) + 1 if edge_index.numel() else 1
    differ: Tensor = (source * width + target).sort().values != (target * width + source).sort().values
    return differ


def _keep_metadata(edge_index: EdgeIndex, mask: Mask, unpaired: Tensor | None) -> object:
    """Return PyG's metadata of several joined edge sets, for the kept edges; None if there is no valid one.

    Args:
        unpaired: where kept edges have no reverse; None if none of the sets claims to be symmetric.
    """
    parts = edge_index._cat_metadata
    if parts is None or sum(parts.nnz) != mask.shape[0]:
        return None
    ends = kept_before(mask, torch.tensor([0, *parts.nnz]).cumsum(0))
    undirected = parts.is_undirected
    if unpaired is not None:
        before = torch.cat([torch.zeros(1, dtype=torch.int64), unpaired.cumsum(0).cpu()])
        faults = before[ends].diff().tolist()
        undirected = [was and not fault for was, fault in zip(undirected, faults, strict=True)]
    return parts._replace(nnz=ends.diff().tolist(), is_undirected=undirected)


def num_nodes(edge_index: EdgeIndex) -> int | tuple[int, int] | None:
    """Return the size that an `EdgeIndex` states: one number if square, else a pair; None if it states none."""
    rows, columns = edge_index.sparse_size()
    if rows is None or columns is None:
        return None
    return rows if rows == columns else (rows, columns)


class EdgeIndexAdapter(Adapter):
    """Reads a bare `EdgeIndex` and rebuilds one with the same order and size."""

    name: ClassVar[str] = "edge-index"
    about: ClassVar[str] = "a PyG EdgeIndex"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, EdgeIndex)

    def graphs(self, data: EdgeIndex) -> Mapping[Key, Graph]:
        return {None: Graph.from_edges(view(data.as_tensor()), num_nodes=num_nodes(data))}

    def device(self, data: EdgeIndex) -> Any:
        return on_gpu(data)

    def device_graphs(self, data: EdgeIndex) -> Mapping[Key, Graph]:
        return {None: edges_on_device(data.as_tensor(), num_nodes=num_nodes(data))}

    def rebuild(self, data: Tensor, kept: Mapping[Key, Kept]) -> Tensor:
        if None not in kept:
            return data
        kept[None].refuse_weight("a bare EdgeIndex")
        kept[None].refuse_e_id("a bare EdgeIndex")
        return keep_edge_index(data, mask_of(kept[None]))
