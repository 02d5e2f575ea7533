"""Edges grouped by owner, the ids that ties go by, and work shared out over owners."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from lsprune.graph import Array, Graph, Owned, oriented
from lsprune.kernels import Runtime, plain
from lsprune.selection.rules import SelectionRules
from lsprune.selection.self_loops import loops_count

BLOCK_OWNERS = 1 << 20  # owners looked at at a time, if all of them would take much memory
BLOCK_EDGES = 1 << 16  # edges whose keys are made at a time


def group(graph: Graph, rules: SelectionRules, runtime: Runtime) -> Owned:
    """Group the edges of the graph by owner; leave out self-loops unless they count like any other edge."""
    if runtime.device is not None:
        owned: Owned = import_module("lsprune.device.owners").group(graph, rules)
        return owned
    return by_owner(graph, rules.side, runtime, skip_loops=not loops_count(rules.self_loops, bipartite=graph.bipartite))


def by_owner(graph: Graph, side: str, runtime: Runtime, *, skip_loops: bool = False) -> Owned:
    """Group the edges of the graph by owner."""
    if graph.grouped is not None:
        assert graph.grouped.side == side and graph.grouped.loops != skip_loops, "grouped for another pruner"
        return graph.grouped.owned
    owners, neighbours = oriented(side, graph.num_sources, graph.num_targets)
    if graph.rows == oriented(side, "source", "target")[0]:  # compressed rows of the owners: grouped already
        neighbour = oriented(side, graph.source, graph.target)[1]
        assert neighbour is not None and graph.indptr is not None
        indptr, neighbour = plain(graph.indptr.astype(np.int64, copy=False)), plain(neighbour)
        if not skip_loops:
            return Owned(indptr, neighbour, None)
        return Owned(*runtime.module.without_loops(indptr, neighbour, runtime.threads))
    owner, neighbour = oriented(side, *(plain(end) for end in graph.ends()))
    return Owned(*runtime.module.group(owner, neighbour, owners, neighbours, skip_loops, runtime.threads))


def node_base(ptr: Array | None) -> Array:
    """Return the first id of its graph for each node; empty for a single graph."""
    return np.empty(0, np.int64) if ptr is None else np.repeat(ptr[:-1], np.diff(ptr))


def local_ids(ptr: Array | None, nodes: int) -> Array | None:
    """Return the id of each node within its graph; None for a single graph."""
    return None if ptr is None else np.arange(nodes) - node_base(ptr)


def bases(graph: Graph, side: str) -> tuple[Array, Array]:
    """Return (owner base, neighbour base): what to subtract from a node to get its id in its graph, or empty."""
    source, target = node_base(graph.source_ptr), node_base(graph.target_ptr)
    if graph.ids is not None:  # a part of a graph: what is left must be the id in the whole graph
        source, target = (np.arange(ids.shape[0]) - ids for ids in graph.ids)
    return oriented(side, source, target)


def neighbour_base(graph: Graph, side: str, runtime: Runtime) -> Array:
    """Return what to subtract from a neighbour to get its id in its graph, or an empty array; on a device, a tensor."""
    if runtime.device is not None:
        base: Array = import_module("lsprune.device.owners").neighbour_base(graph, side)
        return base
    return bases(graph, side)[1]


def slot_ids(graph: Graph, owned: Owned, side: str, lo: int, hi: int) -> tuple[Array, Array]:
    """Return the ids of owner and neighbour of every slot of the owners lo..hi, as they are in the whole graph."""
    own_base, other_base = bases(graph, side)
    owner, neighbour = owned.owners(lo, hi), owned.neighbour[owned.indptr[lo] : owned.indptr[hi]].astype(np.int64)
    if own_base.size:
        owner = owner - own_base[owner]
    return owner, neighbour - other_base[neighbour] if other_base.size else neighbour


def neighbour_base_of_owner(graph: Graph, side: str) -> Array:
    """Return the first neighbour id of its graph for each owner; empty for a single graph."""
    own, other = oriented(side, graph.source_ptr, graph.target_ptr)
    if own is None or other is None:
        return np.empty(0, np.int64)
    return np.repeat(other[:-1], np.diff(own))


def which_graph(ptr: Array | None, nodes: int, pooled: bool) -> tuple[Array, int]:
    """Return the graph number of each node and the number of graphs, for budgets; one graph if pooled."""
    if ptr is None or pooled:
        return np.zeros(nodes, np.int64), 1
    return np.repeat(np.arange(ptr.shape[0] - 1), np.diff(ptr)), max(int(ptr.shape[0]) - 1, 1)


def over_owners(
    owned: Owned, runtime: Runtime, work: Callable[[int, int], None], only: Callable[[int, int], bool] | None = None
) -> None:
    """Call work(lo, hi) over ranges of owners with about the same number of edges each, if only(lo, hi) is true."""
    slots = owned.neighbour.shape[0]
    parts = max(1, -(-slots // min(BLOCK_EDGES, max(slots // (16 * runtime.threads), 1 << 12))))
    cuts = np.searchsorted(owned.indptr, np.arange(parts + 1) * slots // parts)
    cuts[0], cuts[-1] = 0, owned.indptr.shape[0] - 1
    ranges = [(int(lo), int(hi)) for lo, hi in zip(cuts[:-1], cuts[1:], strict=True) if hi > lo]
    ranges = ranges if only is None else [span for span in ranges if only(*span)]
    runtime.spread(len(ranges), lambda i, _: work(*ranges[i]), 1)
