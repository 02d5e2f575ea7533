"""Keep the edges that lie on a shortest path: the metric backbone (Simas et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from lsprune.checks import check_choice, short_repr
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners import Pruner
from lsprune.selection.csgraph import bounded_distances
from lsprune.selection.mask import Outcome, outcome
from lsprune.selection.self_loops import SELF_LOOPS, SelfLoops, loops_count, uncounted_loops_stay
from lsprune.weights.column import edge_values, set_column

_SAME_LENGTH = 1e-12  # relative: sums of floats along two paths that differ by less are equal


@dataclass(frozen=True, kw_only=True, repr=False)
class MetricBackbone(Pruner):
    """Keep every edge that is a shortest path between its ends; all shortest distances of the graph stay as they are.

    There is no budget: how many edges stay is a property of the graph. `scores` returns how many times longer an edge
    is than the shortest path between its ends: 1 for the edges of the backbone. Of parallel edges the shortest ones
    stay. Directions count, unless the graph is undirected. It searches around every node, which takes minutes from some
    100,000 nodes on. Distances are floats: the result is promised on one type of machine.

    Args:
        column: number or name of the column with the weights, as for `TopWeight`; None: the weights of the graph.
        weights: "distance": a weight is the length of the edge; "similarity": the length is 1 / weight. All > 0.
        self_loops: "free" (kept) or "drop"; a self-loop is never part of a shortest path, so "edge" drops it too.

    >>> import numpy as np
    >>> from lsprune import Graph
    >>> triangle = Graph.from_edges(np.array([[0, 1, 0], [1, 2, 2]]), edge_weight=np.array([1.0, 1.0, 3.0]))
    >>> MetricBackbone().mask(triangle), MetricBackbone().scores(triangle)
    (array([ True,  True, False]), array([1. , 1. , 1.5]))
    """

    name: ClassVar[str] = "metric-backbone"
    about: ClassVar[str] = "every edge that is a shortest path between its ends; no budget"
    unbiased_problem: ClassVar[str] = "it keeps the same edges with every seed"
    side: ClassVar[str] = "in"
    symmetric: ClassVar[str | None] = None

    column: int | str | None = None
    weights: Literal["distance", "similarity"] = "distance"
    self_loops: SelfLoops = field(default="free")

    def __post_init__(self) -> None:
        set_column(self)
        check_choice("weights", self.weights, ("distance", "similarity"))
        check_choice("self_loops", self.self_loops, SELF_LOOPS)

    @property
    def needs(self) -> Needs:
        """Say that paths run through the whole graph."""
        named = (self.column,) if isinstance(self.column, str) else ()
        reason = "metric-backbone must see the whole graph at once"
        return Needs(scope="graph", reason=reason, edge=True, edge_columns=named)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Keep the edges that are no longer than the shortest path."""
        stretch = self.edge_scores(graph, runtime)
        mask = np.where(np.isnan(stretch), uncounted_loops_stay(self.self_loops), stretch <= 1)
        return outcome(graph, mask.astype(bool), runtime)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return length / shortest distance of each edge, 1 on the backbone; NaN for self-loops that do not count."""
        source, target = (np.asarray(end).astype(np.int64) for end in graph.ends())
        out = np.full(source.shape, np.nan)
        loops = (source == target) & (not graph.bipartite)
        if loops_count(self.self_loops, bipartite=graph.bipartite):
            out[loops] = np.inf
        edges = np.flatnonzero(~loops)
        if not edges.size:
            return out
        length = self._lengths(graph, edges)
        shift = graph.num_sources if graph.bipartite else 0
        shortest = bounded_distances(source[edges], target[edges] + shift, length, graph.num_nodes)
        same = length <= shortest * (1 + _SAME_LENGTH)
        out[edges] = np.where(same, 1.0, length / shortest)
        return out

    def _lengths(self, graph: Graph, edges: Array) -> Array:
        weights = np.asarray(edge_values(graph, self.column, self.name))[edges].astype(np.float64)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
        if bad.size:
            edge, wrong = int(edges[bad[0]]), weights[bad[0]]
            raise GraphError(f"weights must be finite and above 0 for {self.name}, got {wrong} at edge {edge}")
        return weights if self.weights == "distance" else 1 / weights

    def __repr__(self) -> str:
        return short_repr(self)
