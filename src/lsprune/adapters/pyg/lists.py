"""A list or tuple of `Data`: read as one graph with node offsets, so that one call prunes them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.data import DataAdapter, HeteroDataAdapter
from lsprune.adapters.pyg.stores import edge_count
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class ListAdapter(Adapter):
    """Reads a list or tuple of `Data` (or of `HeteroData`, or of batches) and rebuilds a list or tuple."""

    name: ClassVar[str] = "list"
    about: ClassVar[str] = "a list of PyG Data or HeteroData"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, (list, tuple)) and bool(data) and _adapter(data[0]) is not None

    def graphs(self, data: Sequence[Any]) -> Mapping[Key, Graph]:
        graphs = [_checked_adapter(item, place).graphs(item) for place, item in enumerate(data)]
        for place, relations in enumerate(graphs):
            if relations.keys() != graphs[0].keys():
                raise GraphError(f"all graphs of a list must have the same relations, number {place} differs from 0")
        return {key: Graph.concat([relations[key] for relations in graphs]) for key in graphs[0]}

    def device(self, data: Sequence[Any]) -> Any:
        return _checked_adapter(data[0], 0).device(data[0])

    def rebuild(self, data: Sequence[Any], kept: Mapping[Key, Kept]) -> list[Any] | tuple[Any, ...]:
        divided = {key: _divide(part, _edge_counts(data, key)) for key, part in kept.items()}
        rebuilt = [
            _checked_adapter(item, place).rebuild(item, {key: next(parts) for key, parts in divided.items()})
            for place, item in enumerate(data)
        ]
        return tuple(rebuilt) if isinstance(data, tuple) else rebuilt

    def masks(self, data: Sequence[Any], masks: Mapping[Key, Array]) -> list[Any]:
        divided = {key: split(mask, _edge_counts(data, key)) for key, mask in masks.items()}
        return [
            _checked_adapter(item, place).masks(item, {key: parts[place] for key, parts in divided.items()})
            for place, item in enumerate(data)
        ]


def split(values: Array, counts: Sequence[int] | Array) -> list[Array]:
    """Cut the array into pieces of these lengths."""
    return np.split(values, np.cumsum(counts, dtype=np.int64))[:-1]


def _adapter(item: Any) -> Adapter | None:
    return next((kind() for kind in (HeteroDataAdapter, DataAdapter) if kind.accepts(item)), None)


def _checked_adapter(item: Any, place: int) -> Adapter:
    if (adapter := _adapter(item)) is None:
        raise GraphError(f"all entries of a list must be PyG Data, number {place} is {type(item).__name__}")
    return adapter


def _edge_counts(data: Sequence[Any], key: Key) -> list[int]:
    return [edge_count(item._store if key is None else item[key]) for item in data]


def _divide(kept: Kept, counts: Sequence[int]) -> Iterator[Kept]:
    masks = split(kept.mask, counts)
    weights = [None] * len(masks) if kept.weight is None else split(kept.weight, counts)
    for mask, weight in zip(masks, weights, strict=True):
        yield Kept(mask=mask, weight=weight, e_id=kept.e_id)
