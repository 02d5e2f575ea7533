"""A list or tuple of `Data`: read as one graph with node offsets, so that one call prunes them all."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from torch import Tensor

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.data import DataAdapter, HeteroDataAdapter
from lsprune.adapters.pyg.link_labels import link_names, mark_pruned
from lsprune.adapters.pyg.listed_stores import ListedStores
from lsprune.adapters.pyg.stores import edge_count
from lsprune.adapters.pyg.tensors import kept_before, mask_of
from lsprune.errors import GraphError, naming_graph
from lsprune.graph import Array, Graph

T = TypeVar("T")


class ListAdapter(Adapter):
    """Reads a list or tuple of `Data` (or of `HeteroData`, or of batches) and rebuilds a list or tuple."""

    name: ClassVar[str] = "list"
    about: ClassVar[str] = "a list of PyG Data or HeteroData"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, (list, tuple)) and bool(data) and _adapter(data[0]) is not None

    def graphs(self, data: Sequence[Any]) -> Mapping[Key, Graph]:
        graphs = _each(data, lambda item, adapter: adapter.graphs(item), self.columns)
        return {key: Graph.concat(parts) for key, parts in _by_relation(graphs).items()}

    def device(self, data: Sequence[Any]) -> Any:
        return _each(data[:1], lambda item, adapter: adapter.device(item))[0]

    def device_graphs(self, data: Sequence[Any]) -> Mapping[Key, Graph]:
        from lsprune.device.graph import concat

        listed = ListedStores.of(data)
        if listed is not None and (graph := listed.graph()) is not None:
            return {None: graph}
        graphs = _each(data, lambda item, adapter: adapter.device_graphs(item))
        return {key: concat(parts) for key, parts in _by_relation(graphs).items()}

    def rebuild(self, data: Sequence[Any], kept: Mapping[Key, Kept]) -> list[Any] | tuple[Any, ...]:
        rebuilt = _rebuilt_together(data, kept) or _rebuilt_one_by_one(data, kept, self.columns)
        return tuple(rebuilt) if isinstance(data, tuple) else rebuilt

    def pruned_apart(self, data: Sequence[Any]) -> bool:
        """Splits of one graph: what is learned for the first must not depend on edges that it does not have."""
        return any(link_names(store) for item in data if _adapter(item) is not None for store in item.stores)

    def masks(self, data: Sequence[Any], masks: Mapping[Key, Array]) -> list[Any]:
        divided = {key: iter(split(mask, _edge_counts(data, key))) for key, mask in masks.items()}
        return _each(
            data, lambda item, adapter: adapter.masks(item, {key: next(parts) for key, parts in divided.items()})
        )


def _by_relation(graphs: Sequence[Mapping[Key, Any]]) -> dict[Key, list[Any]]:
    """Return the graphs of each relation; raise GraphError if not all have the same relations."""
    for place, relations in enumerate(graphs):
        if relations.keys() != graphs[0].keys():
            raise GraphError(f"graph {place}: its relations must be those of graph 0, got {list(relations)}")
    return {key: [relations[key] for relations in graphs] for key in graphs[0]}


def _rebuilt_together(data: Sequence[Any], kept: Mapping[Key, Kept]) -> list[Any] | None:
    """Return graphs on a device without the edges that are not kept, all at once; None if they are not so alike."""
    if None not in kept or not isinstance(kept[None].mask, Tensor) or (listed := ListedStores.of(data)) is None:
        return None
    new = listed.keep(kept[None])
    out = [copy.copy(item) for item in data]
    for item, *values in zip(out, *new.values(), strict=True):
        item._store._mapping.update(zip(new, values, strict=True))  # a copy has nothing cached that must be forgotten
        mark_pruned(item._store)
    return out


def _rebuilt_one_by_one(data: Sequence[Any], kept: Mapping[Key, Kept], columns: tuple[str, ...]) -> list[Any]:
    divided = {key: _divide(part, _edge_counts(data, key)) for key, part in kept.items()}
    return _each(
        data,
        lambda item, adapter: adapter.rebuild(item, {key: next(parts) for key, parts in divided.items()}),
        columns,
    )


def split(values: Any, counts: Sequence[int] | Array) -> list[Any]:
    """Cut the array or tensor into pieces of these lengths."""
    if isinstance(values, Tensor):
        return list(torch.split(values, [int(count) for count in counts]))
    return np.split(values, np.cumsum(counts, dtype=np.int64))[:-1]


def _adapter(item: Any) -> Adapter | None:
    return next((kind() for kind in (HeteroDataAdapter, DataAdapter) if kind.accepts(item)), None)


def _each(data: Sequence[Any], work: Callable[[Any, Adapter], T], columns: tuple[str, ...] = ()) -> list[T]:
    """Return what `work` makes of each graph and its adapter; its errors begin with the number of the graph."""
    made = []
    for place, item in enumerate(data):
        with naming_graph(place):
            if (adapter := _adapter(item)) is None:
                raise GraphError(f"all entries of a list must be PyG Data, got {type(item).__name__}")
            made.append(work(item, adapter.configured(columns=columns)))
    return made


def _edge_counts(data: Sequence[Any], key: Key) -> list[int]:
    return [edge_count(item._store if key is None else item[key]) for item in data]


def _divide(kept: Kept, counts: Sequence[int]) -> Iterator[Kept]:
    masks = split(kept.mask, counts)
    weights = [None] * len(masks) if kept.weight is None else split(kept.weight, counts)
    sizes = [None] * len(masks)
    if isinstance(kept.mask, Tensor):  # one transfer instead of one for each graph
        sizes = kept_before(mask_of(kept), torch.tensor([0, *counts]).cumsum(0)).diff().tolist()
    for mask, weight, size in zip(masks, weights, sizes, strict=True):
        yield Kept(mask=mask, weight=weight, e_id=kept.e_id, count=size)
