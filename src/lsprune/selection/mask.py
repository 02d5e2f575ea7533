"""From the slots that were taken to a mask in the caller's edge order, and the number of isolated nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, plain
from lsprune.selection.owners import over_owners
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of pruning a graph."""

    mask: Array  # [E] bool, in the caller's edge order
    isolated: int  # nodes that had an edge to another node and have none left
    kept: int | None = None  # edges that the mask keeps, where that is known


def outcome(graph: Graph, mask: Array, runtime: Runtime) -> Outcome:
    """Return the outcome of any mask; isolated nodes are counted in one pass over the edges."""
    if graph.bipartite:
        return Outcome(mask, 0)
    had, has = np.zeros(graph.num_nodes, np.uint8), np.zeros(graph.num_nodes, np.uint8)
    source, target = (plain(end) for end in graph.ends())
    kept, module = mask.view(np.uint8), runtime.module
    runtime.spread(mask.shape[0], lambda lo, hi: module.mark_ends(source, target, kept, lo, hi, had, has))
    return Outcome(mask, int((had > has).sum()))


def owners_outcome(
    graph: Graph, owned: Owned, taken: Array, self_loops: str, runtime: Runtime, quota: Array | None = None
) -> Outcome:
    """Return the outcome of the slots that were taken; only owners that keep nothing are looked up as neighbours.

    With `quota`, an owner that has an edge and a quota above 0 is known to keep one.
    """
    mask = to_mask(graph, owned, taken, self_loops, runtime)
    rows, module = owned.indptr.shape[0] - 1, runtime.module
    if graph.bipartite:
        return Outcome(mask, 0)
    if loops_count(self_loops, bipartite=False):  # self-loops connect a node to no other
        return Outcome(mask, _isolated(owned, taken, graph.num_nodes, runtime))
    had = (owned.indptr[1:] > owned.indptr[:-1]).view(np.uint8)
    if quota is None:
        has = np.zeros(rows, np.uint8)
        runtime.spread(rows, lambda lo, hi: module.mark_owners(owned.indptr, taken, lo, hi, has))
    else:
        has = had & (quota > 0)
    without = (has == 0).view(np.uint8)
    if without.any():
        runtime.spread(taken.shape[0], lambda lo, hi: module.mark_neighbours(
            owned.neighbour, taken, without, lo, hi, had, has))  # fmt: skip
    return Outcome(mask, int((had > has).sum()))


def _isolated(owned: Owned, taken: Array, nodes: int, runtime: Runtime) -> int:
    """Count the nodes that have an edge to another node and keep none."""
    had, has = np.zeros(nodes, np.uint8), np.zeros(nodes, np.uint8)

    def mark(lo: int, hi: int) -> None:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        owner = owned.owners(lo, hi).astype(owned.neighbour.dtype)
        kept = np.not_equal(taken[start:stop], 0).view(np.uint8)
        runtime.module.mark_ends(owner, owned.neighbour[start:stop], kept, 0, stop - start, had, has)

    over_owners(owned, runtime, mark)
    return int((had > has).sum())


def to_mask(graph: Graph, owned: Owned, taken: Array, self_loops: str, runtime: Runtime) -> Array:
    """Return the mask in the caller's edge order; self-loops that took no part stay if "free", not if "drop"."""
    mask = runtime.zeros(graph.num_edges, bool)
    if owned.edge is None:
        runtime.spread(taken.shape[0], lambda lo, hi: np.not_equal(taken[lo:hi], 0, out=mask[lo:hi]))
        return mask
    if owned.edge.shape[0] < mask.shape[0]:
        mask[:] = uncounted_loops_stay(self_loops)
    edge = owned.edge
    runtime.spread(taken.shape[0], lambda lo, hi: runtime.module.scatter_taken(taken, edge, lo, hi, mask))
    return mask
