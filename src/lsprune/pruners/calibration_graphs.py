"""Graphs to try candidates on: a sample of the edges, and a copy of it with noise and other node numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from lsprune.attributes import is_category
from lsprune.graph import Array, Graph, Owned, oriented
from lsprune.kernels import BLOCK_VALUES, Runtime
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.random_numbers import NOISE, draw, is_tensor


def sample_slots(graph: Graph, owned: Owned, seed: int, least: int, most: int, each: int) -> Array:
    """Sample slots of owners with more than `least` edges: at most `most` slots in all and `each` of one owner."""
    if is_tensor(owned.indptr):
        tensor: Array = _on_device().sample_slots(graph, owned, seed, least, most, each)
        return tensor
    degree = np.diff(owned.indptr)
    able = np.flatnonzero(degree > least)
    order = able[np.argsort(draw(seed, NOISE, 0, able), kind="stable")]
    before = np.append(0, np.cumsum(np.minimum(degree[order], each)))
    count = int(np.searchsorted(before[1:], most, side="right"))
    slots = [_owner_slots(graph, owned, seed, int(owner), each) for owner in np.sort(order[:count])]
    if (room := most - int(before[count])) > least and count < order.shape[0]:
        slots.append(_owner_slots(graph, owned, seed, int(order[count]), room))
    return np.concatenate(slots)


def _owner_slots(graph: Graph, owned: Owned, seed: int, owner: int, each: int) -> Array:
    """Return the slots of an owner; of more than `each`, those whose neighbours have the smallest random names."""
    slots = np.arange(owned.indptr[owner], owned.indptr[owner + 1])
    if slots.shape[0] <= each:
        return slots
    names = draw(seed, NOISE, 1, owner, owned.neighbour[slots])
    near = np.flatnonzero(names <= np.partition(names, each - 1)[each - 1])  # more than `each` if edges are parallel
    order = np.lexsort((_content(graph.edge_attr, _edges(owned, slots[near])), names[near]))
    return slots[near[order[:each]]]


def slots_in_order(graph: Graph, owned: Owned, slots: Array) -> Array:
    """Sort slots by owner, neighbour and content, so that nothing that follows depends on the order of edges."""
    if is_tensor(owned.indptr):
        tensor: Array = _on_device().slots_in_order(graph, owned, slots)
        return tensor
    owner = np.searchsorted(owned.indptr, slots, side="right")
    content = _content(graph.edge_attr, _edges(owned, slots))
    return np.asarray(slots[np.lexsort((content, owned.neighbour[slots], owner))])


def _edges(owned: Owned, slots: Array) -> Array:
    return slots if owned.edge is None else owned.edge[slots]


def slots_to_graph(graph: Graph, owned: Owned, side: str, slots: Array) -> Graph:
    """Make a graph of the edges in these slots; owners and neighbours are renumbered. It is where the slots are."""
    if is_tensor(owned.indptr):
        smaller: Graph = _on_device().slots_to_graph(graph, owned, side, slots)
        return smaller
    owner = np.searchsorted(owned.indptr, slots, side="right") - 1
    ends = oriented(side, owner, owned.neighbour[slots])
    nodes, places = zip(*(np.unique(end, return_inverse=True) for end in ends), strict=True)
    return Graph.from_edges(
        np.stack(places),
        num_nodes=(nodes[0].shape[0], nodes[1].shape[0]),
        x=(_take(graph.x_source, nodes[0]), _take(graph.x_target, nodes[1])),
        edge_attr=_take(graph.edge_attr, _edges(owned, slots)),
    )


def in_host_memory(graph: Graph, runtime: Runtime) -> Graph:
    """Return a graph as arrays in host memory: itself, unless it is on a device."""
    if runtime.device is None:
        return graph
    copy: Graph = import_module("lsprune.device.graph").download(graph)
    return copy


def _on_device() -> Any:
    """Return the module with the same functions for graphs on a device; it imports torch."""
    return import_module("lsprune.device.calibration")


def _take(rows: Any, ids: Array) -> Any:
    """Take rows; those of a sparse matrix stay sparse."""
    if rows is None:
        return None
    return rows.tocsr()[ids] if hasattr(rows, "tocsr") else rows[ids]


def disturbed_graph(graph: Graph, noise: float, seed: int) -> Graph:
    """Return the same edges in the same order with noise on all attributes and with renumbered nodes."""
    sides = [
        _renumbered(end, x, count, noise, seed, side)
        for side, (end, x, count) in enumerate(
            zip(graph.ends(), graph.x, (graph.num_sources, graph.num_targets), strict=True)
        )
    ]
    return Graph.from_edges(
        np.stack([end for end, _ in sides]),
        num_nodes=(graph.num_sources, graph.num_targets),
        x=tuple(x for _, x in sides),
        edge_attr=_noisy(graph.edge_attr, noise, seed, 2),
    )


def _renumbered(end: Array, x: Any, count: int, noise: float, seed: int, side: int) -> tuple[Array, Any]:
    """Return one end of every edge and the attributes of its nodes, after renumbering the nodes."""
    old = np.argsort(draw(seed, NOISE, 2, side, np.arange(count)), kind="stable")  # old[new number]
    return np.argsort(old)[end], _take(_noisy(x, noise, seed, side), old)


def _noisy(rows: Any, noise: float, seed: int, kind: int) -> Any:
    """Add normal noise to every column of numbers; a category stays."""
    if rows is None or (not hasattr(rows, "tocsr") and is_category(rows.reshape(rows.shape[0], -1))):
        return rows
    values = _flat(rows, np.arange(rows.shape[0]))
    scale = values.std(0, dtype=np.float64) * (noise / UNIT)
    most, columns = float(np.finfo(np.float32).max), np.arange(values.shape[1])[None, :]
    for some in _blocks(*values.shape):
        drawn = normal(draw(seed, NOISE, 3, kind, np.arange(some.start, some.stop)[:, None], columns))
        values[some] = np.clip(values[some] + drawn * scale, -most, most)
    return values


def _content(rows: Any, ids: Array) -> Array:
    """Return a number for the content of each of some rows; 0 without rows."""
    out = np.zeros(ids.shape[0], np.uint64)
    if rows is None:
        return out
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    factors = draw(0, NOISE, np.arange(math.prod(rows.shape[1:])))
    for some in _blocks(ids.shape[0], factors.shape[0]):
        bits = (_flat(rows, ids[some]) + np.float32(0)).view(np.uint32)  # -0 becomes 0, as in sparse rows
        with np.errstate(over="ignore"):
            out[some] = (bits.astype(np.uint64) * factors).sum(1, dtype=np.uint64)
    return out


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Cut rows into blocks, of few rows if they are wide."""
    size = max(BLOCK_VALUES // 4 // max(width, 1), 1)
    return (slice(lo, min(lo + size, count)) for lo in range(0, count, size))


def _flat(rows: Any, ids: Array) -> Array:
    """Return some rows as a new array `[ids, columns]` float32."""
    some = _take(rows, ids)
    dense = some.toarray() if hasattr(some, "toarray") else some
    return np.array(dense.reshape(ids.shape[0], math.prod(rows.shape[1:])), dtype=np.float32, order="C")
