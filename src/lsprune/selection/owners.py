"""Edges grouped by owner, the ids that ties go by, and work shared out over owners."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, plain
from lsprune.selection.rules import SelectionRules

_BLOCK = 1 << 16  # edges whose keys are made at a time
OWNERS = 1 << 20  # owners looked at at a time, where all of them would take much memory


def group(graph: Graph, rules: SelectionRules, runtime: Runtime) -> Owned:
    """The edges of the graph by owner; self-loops are left out unless they count like any other edge."""
    return by_owner(graph, rules.side, runtime, skip=rules.self_loops != "edge" and not graph.bipartite)


def by_owner(graph: Graph, side: str, runtime: Runtime, *, skip: bool = False) -> Owned:
    """The edges of the graph by owner, without self-loops if `skip`."""
    if graph.grouped is not None:
        assert graph.grouped.side == side and graph.grouped.loops != skip, "grouped for another pruner"
        return graph.grouped.owned
    owners = graph.num_targets if side == "in" else graph.num_sources
    if graph.rows == ("target" if side == "in" else "source"):
        neighbour = graph.source if side == "in" else graph.target
        assert neighbour is not None and graph.indptr is not None
        indptr, neighbour = plain(graph.indptr.astype(np.int64, copy=False)), plain(neighbour)
        if not skip:
            return Owned(indptr, neighbour, None)
        return Owned(*runtime.module.without_loops(indptr, neighbour, runtime.threads))
    source, target = (plain(end) for end in graph.ends())
    owner, neighbour = (target, source) if side == "in" else (source, target)
    neighbours = graph.num_sources if side == "in" else graph.num_targets
    return Owned(*runtime.module.group(owner, neighbour, owners, neighbours, skip, runtime.threads))


def node_base(ptr: Array | None) -> Array:
    """For each node the first id of its graph; empty for a single graph."""
    return np.empty(0, np.int64) if ptr is None else np.repeat(ptr[:-1], np.diff(ptr))


def bases(graph: Graph, side: str) -> tuple[Array, Array]:
    """(owner base, neighbour base): first id of its graph for every node of either side, or empty."""
    source, target = node_base(graph.source_ptr), node_base(graph.target_ptr)
    if graph.ids is not None:  # what is left when a base is taken away must be the id in the whole graph
        source, target = (np.arange(ids.shape[0]) - ids for ids in graph.ids)
    return (target, source) if side == "in" else (source, target)


def neighbour_base_of_owner(graph: Graph, side: str) -> Array:
    """For each owner the first neighbour id of its graph, or empty for a single graph."""
    own, other = (graph.target_ptr, graph.source_ptr) if side == "in" else (graph.source_ptr, graph.target_ptr)
    if own is None or other is None:
        return np.empty(0, np.int64)
    return np.repeat(other[:-1], np.diff(own))


def which_graph(ptr: Array | None, nodes: int, pooled: bool) -> tuple[Array, int]:
    """(graph number of each node, number of graphs) for budgets; all one when pooled."""
    if ptr is None or pooled:
        return np.zeros(nodes, np.int64), 1
    return np.repeat(np.arange(ptr.shape[0] - 1), np.diff(ptr)), max(int(ptr.shape[0]) - 1, 1)


def _local(ptr: Array | None, nodes: int) -> Array | None:
    return None if ptr is None else np.arange(nodes) - node_base(ptr)


def over_owners(
    owned: Owned, runtime: Runtime, work: Callable[[int, int], None], only: Callable[[int, int], bool] | None = None
) -> None:
    """work(lo, hi) over ranges of owners with about the same number of edges each, where only(lo, hi) is true."""
    slots = owned.neighbour.shape[0]
    parts = max(1, -(-slots // min(_BLOCK, max(slots // (16 * runtime.threads), 1 << 12))))
    cuts = np.searchsorted(owned.indptr, np.arange(parts + 1) * slots // parts)
    cuts[0], cuts[-1] = 0, owned.indptr.shape[0] - 1
    ranges = [(int(lo), int(hi)) for lo, hi in zip(cuts[:-1], cuts[1:], strict=True) if hi > lo]
    ranges = ranges if only is None else [span for span in ranges if only(*span)]
    runtime.spread(len(ranges), lambda i, _: work(*ranges[i]), 1)
