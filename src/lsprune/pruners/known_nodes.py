"""Leave out nodes whose attributes are not known before `fit` computes statistics."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from lsprune.graph import UNUSABLE_MASK, Array, Graph, Owned, oriented
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans

_BLOCK_ROWS = 1 << 16  # copied at a time


def without_unknown(graph: Graph, runtime: Runtime) -> Graph:
    """Return the graph without nodes whose attributes are not known; the others are renumbered in their order.

    Such nodes have no edges. `fit` must not see them: statistics are those of the nodes that a table names.
    """
    if all(known is None for known in graph.known):
        return graph
    ranks = [None if known is None else _ranks(known, runtime) for known in graph.known]
    counts = [
        size if known is None else int(np.count_nonzero(known))
        for size, known in zip((graph.num_sources, graph.num_targets), graph.known, strict=True)
    ]
    x_source = _rows(graph.x_source, graph.known[0], counts[0], runtime)
    same = graph.x_target is graph.x_source
    smaller = dataclasses.replace(
        graph, num_sources=counts[0], num_targets=counts[1], x_source=x_source, known=(None, None),
        x_target=x_source if same else _rows(graph.x_target, graph.known[1], counts[1], runtime),
        y=_rows(graph.y, graph.known[0], counts[0], runtime),
        train_mask=graph.train_mask
        if graph.train_mask is UNUSABLE_MASK
        else _rows(graph.train_mask, graph.known[0], counts[0], runtime),
    )  # fmt: skip
    if graph.grouped is None:
        ends = (_renumbered(end, rank, runtime) for end, rank in zip(graph.ends(), ranks, strict=True))
        source, target = ends
        return dataclasses.replace(smaller, source=source, target=target, indptr=None, rows=None)
    own, other = oriented(graph.grouped.side, 0, 1)
    owned, known = graph.grouped.owned, graph.known[own]
    indptr = owned.indptr
    if known is not None:  # unknown owners have no edges: the offsets of the others stay
        indptr = runtime.zeros(counts[own] + 1, np.int64)
        indptr[:-1] = _rows(owned.indptr[:-1], known, counts[own], runtime)
        indptr[-1] = owned.indptr[-1]
    renumbered = Owned(indptr, _renumbered(owned.neighbour, ranks[other], runtime), owned.edge)
    return dataclasses.replace(smaller, grouped=dataclasses.replace(graph.grouped, owned=renumbered))


def _ranks(known: Array, runtime: Runtime) -> Array:
    """Return for each node the number of known nodes before it."""
    ranks = runtime.zeros(known.shape[0], np.int64)
    np.cumsum(known, out=ranks)
    ranks -= 1
    return ranks


def _renumbered(ids: Array, ranks: Array | None, runtime: Runtime) -> Array:
    if ranks is None:
        return ids
    renumbered = runtime.zeros(ids.shape[0], ids.dtype)
    for lo, hi in spans(ids.shape[0], _BLOCK_ROWS):
        renumbered[lo:hi] = ranks[ids[lo:hi]]
    return renumbered


def _rows(x: Any, known: Array | None, count: int, runtime: Runtime) -> Any:
    if x is None or known is None:
        return x
    if hasattr(x, "tocsr"):
        return x.tocsr()[np.flatnonzero(known)]
    rows, at = runtime.zeros((count, *x.shape[1:]), x.dtype), 0
    for lo, hi in spans(known.shape[0], _BLOCK_ROWS):
        block = x[lo:hi][known[lo:hi]]
        rows[at : at + block.shape[0]] = block
        at += block.shape[0]
    return rows
