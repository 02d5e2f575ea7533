"""Keep the edges whose weight is most surprising for one of their ends: the disparity filter (Serrano et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.contract import SAME_EDGES
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items
from lsprune.selection.self_loops import loops_count
from lsprune.weights.column import edge_values, set_column


@dataclass(frozen=True, kw_only=True, repr=False)
class Disparity(GlobalPruner):
    """Keep the share of edges with the smallest p-values of the disparity filter.

    If an owner of n edges shared out its total weight s at random (uniformly), an edge of weight w or more would have
    the probability p = (1 - w / s)^(n - 1). Heavy edges of a node with many edges have small p-values. `scores` returns
    p: `Disparity(keep=1).scores(graph) < 0.05` is the filter with a significance level of 5 %.

    An owner of a single edge says nothing about it: p is 1. With `symmetric` (always for undirected graphs) a pair of
    edges has the smaller p-value of its two ends. p-values are floats: the result is promised on one type of machine.

    Args:
        keep: the share to keep. side: whose edges are compared: "in", those that a node receives.
        column: number or name of the column with the weights, as for `TopWeight`; None: the weights of the graph. They
            must not be negative.

    >>> Disparity(keep=0.1)
    Disparity(keep=0.1)
    """

    name: ClassVar[str] = "disparity"
    about: ClassVar[str] = "the edges whose weight is most surprising for their owner (disparity filter)"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    column: int | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_column(self)

    @property
    def needs(self) -> Needs:
        """Say that edges are chosen over the whole graph, by a column."""
        named = (self.column,) if isinstance(self.column, str) else ()
        return Needs(scope="graph", reason="disparity must see the whole graph at once", edge=True, edge_columns=named)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the p-value of each edge; small ones are kept. NaN for self-loops that do not count."""
        source, target = (np.asarray(end) for end in graph.ends())
        counted = (source != target) | loops_count(self.self_loops, bipartite=graph.bipartite)
        out = np.full(source.shape, np.nan)
        edges = np.flatnonzero(counted)
        if not edges.size:
            return out
        weights = _weights(graph, self.column, edges)
        own = _p_values(oriented(self.side, source, target)[0][edges], weights)
        if self.symmetry(graph):
            low, high = np.minimum(source, target)[edges], np.maximum(source, target)[edges]
            other = _p_values(oriented(self.side, source, target)[1][edges], weights)
            own = _of_pairs(low, high, np.minimum(own, other))
        out[edges] = own
        return out

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return integers in the order of the p-values; a pair has that of its first edge, which all its edges have."""
        p = self.edge_scores(graph, runtime)
        source, target = (np.asarray(end) for end in graph.ends())
        counted = np.flatnonzero((source != target) | loops_count(self.self_loops, bipartite=graph.bipartite))
        order = (p[counted] + 0.0).view(np.int64)  # the bits of floats >= 0, read as integers, are in their order
        if not self.symmetry(graph):
            return order
        nodes = np.int64(max(graph.num_nodes, 1))
        low, high = (end[counted].astype(np.int64) for end in (np.minimum(source, target), np.maximum(source, target)))
        pairs, first = np.unique(low * nodes + high, return_index=True)
        return order[first[np.searchsorted(pairs, items.first.astype(np.int64) * nodes + items.second)]]


def _weights(graph: Graph, column: int | str | None, edges: Array) -> Array:
    """Return the weights of some edges as float64; raise GraphError unless they are finite and not negative."""
    weights = np.asarray(edge_values(graph, column, "disparity"))[edges].astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        edge, wrong = int(edges[bad[0]]), weights[bad[0]]
        raise GraphError(f"weights must be finite and not negative for disparity, got {wrong} at edge {edge}")
    # So that sums stay finite; a power of two changes no ratio.
    return weights * 2.0**-100 if weights.max(initial=0) > 2.0**900 else weights


def _p_values(owner: Array, weights: Array) -> Array:
    """Return (1 - w / s)^(n - 1) for each edge; 1 if its owner has one edge or no weight."""
    owner = owner.astype(np.int64)
    degree, total = np.bincount(owner)[owner], np.bincount(owner, weights)[owner]
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.asarray(np.power(1 - np.minimum(share, 1), degree - 1))


def _of_pairs(low: Array, high: Array, p: Array) -> Array:
    """Return for each edge the smallest p-value of all edges between its two nodes."""
    order = np.lexsort((high, low))
    new = np.append(True, (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0))
    pair = np.empty(order.shape, np.int64)
    pair[order] = np.cumsum(new) - 1
    least = np.full(int(new.sum()), np.inf)
    np.minimum.at(least, pair, p)
    return np.asarray(least[pair])
