"""A list or tuple of `Data`: read as one graph with node offsets, so that one call prunes them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.pyg.data import find_one
from lsprune.adapters.pyg.stores import edge_count
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


@dataclass(frozen=True)
class ListAdapter:
    """Reads a list or tuple of `Data` (or of `HeteroData`, or of batches) and rebuilds a list or tuple."""

    def graphs(self, data: Sequence[Any]) -> Mapping[Key, Graph]:
        read = [_adapter(item, place).graphs(item) for place, item in enumerate(data)]
        for place, one in enumerate(read):
            if one.keys() != read[0].keys():
                raise GraphError(f"all graphs of a list must have the same relations, number {place} differs from 0")
        return {key: join([one[key] for one in read]) for key in read[0]}

    def rebuild(self, data: Sequence[Any], kept: Mapping[Key, Kept]) -> list[Any] | tuple[Any, ...]:
        divided = {key: _divide(one, _edge_counts(data, key)) for key, one in kept.items()}
        rebuilt = [
            _adapter(item, place).rebuild(item, {key: next(parts) for key, parts in divided.items()})
            for place, item in enumerate(data)
        ]
        return tuple(rebuilt) if isinstance(data, tuple) else rebuilt

    def masks(self, data: Sequence[Any], masks: Mapping[Key, Array]) -> list[Any]:
        divided = {key: split(mask, _edge_counts(data, key)) for key, mask in masks.items()}
        return [
            _adapter(item, place).masks(item, {key: parts[place] for key, parts in divided.items()})
            for place, item in enumerate(data)
        ]


def join(graphs: Sequence[Graph]) -> Graph:
    """One graph that holds all the given ones, in order, with the offsets of their nodes."""
    bipartite = graphs[0].bipartite
    edges = [graph.num_edges for graph in graphs]
    ends = [graph.ends() for graph in graphs]
    ptr, both, x = [], [], []
    for side, name in enumerate(("source", "target")):
        sizes = [getattr(graph, f"num_{name}s") for graph in graphs]
        shift = np.cumsum([0, *sizes])
        both.append(np.concatenate([pair[side] for pair in ends]) + np.repeat(shift[:-1], edges))
        ptr.append(_join_offsets([getattr(graph, f"{name}_ptr") for graph in graphs], shift))
        x.append(_stack([getattr(graph, f"x_{name}") for graph in graphs], "x") if bipartite or side else None)
    return Graph.from_edges(
        (both[0], both[1]),
        num_nodes=(int(ptr[0][-1]), int(ptr[1][-1])) if bipartite else int(ptr[1][-1]),
        x=(x[0], x[1]) if bipartite else x[1],
        edge_attr=_stack([graph.edge_attr for graph in graphs], "edge_attr"),
        ptr=(ptr[0], ptr[1]) if bipartite else ptr[1],
    )


def split(values: Array, counts: Sequence[int] | Array) -> list[Array]:
    """The array cut into pieces of the given lengths."""
    return np.split(values, np.cumsum(counts, dtype=np.int64))[:-1]


def _join_offsets(own: Sequence[Array | None], shift: Array) -> Array:
    """Node offsets of all graphs; one that is a batch brings those of its parts."""
    parts = [shift[i + 1 : i + 2] if ptr is None else ptr[1:] + shift[i] for i, ptr in enumerate(own)]
    return np.concatenate([[0], *parts])


def _stack(values: Sequence[Any], name: str) -> Any:
    present = [place for place, value in enumerate(values) if value is not None]
    if not present:
        return None
    if len(present) < len(values):
        missing = next(place for place, value in enumerate(values) if value is None)
        raise GraphError(f"{name} must be on all graphs of a list or on none, number {missing} has none")
    widths = {value.shape[1:] for value in values}
    if len(widths) > 1:
        raise GraphError(f"{name} must have the same width on all graphs of a list, got {sorted(map(list, widths))}")
    if any(hasattr(value, "tocsr") for value in values):
        return scipy.sparse.vstack(values, format="csr")
    return np.concatenate(values)


def _adapter(item: Any, place: int) -> Adapter:
    found = find_one(item)
    if found is None:
        raise GraphError(f"all entries of a list must be PyG Data, number {place} is {type(item).__name__}")
    return found


def _edge_counts(data: Sequence[Any], key: Key) -> list[int]:
    return [edge_count(item._store if key is None else item[key]) for item in data]


def _divide(kept: Kept, counts: Sequence[int]) -> Iterator[Kept]:
    masks = split(kept.mask, counts)
    weights = [None] * len(masks) if kept.weight is None else split(kept.weight, counts)
    for mask, weight in zip(masks, weights, strict=True):
        yield Kept(mask=mask, weight=weight, e_id=kept.e_id)
