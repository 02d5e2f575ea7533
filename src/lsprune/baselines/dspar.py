"""DSpar: sample edges by the degrees of their ends, a cheap estimate of effective resistance (Liu et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import is_tensor
from lsprune.numeric.weighted_sampling import log2, log_times
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items
from lsprune.selection.self_loops import loops_count


@dataclass(frozen=True, kw_only=True, repr=False)
class DSpar(GlobalPruner):
    """Sample an exact share of the edges, without replacement, proportionally to 1/deg(s) + 1/deg(t).

    The degree of a node counts its edges in both directions, so that an undirected edge counts twice, which does not
    change the probabilities. The paper samples with replacement and reweights the edges it keeps; here an edge is kept
    once, and `prune(rescale="unbiased")` reweights.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. For the other options see `LSP`.

    >>> DSpar(keep=0.5)
    DSpar(keep=0.5)
    """

    name: ClassVar[str] = "dspar"
    about: ClassVar[str] = "a random share of all edges, weighted by 1/degree + 1/degree of the two ends (DSpar)"
    unbiased_problem: ClassVar[str] = ""
    weighted: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        """Say that edges are chosen over the whole graph, which a GPU can do."""
        return replace(super().needs, gpu=True)

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return log-times of weighted sampling; log2 of the weight is log2(ds + dt) - log2 ds - log2 dt."""
        of_source, of_target = _degrees(graph, items)
        logs = [log2(degree.clip(min=1), runtime) for degree in (of_source, of_target)]
        log_sum = log2(of_source[items.first] + of_target[items.second], runtime)
        return log_times(items.draw, log_sum - logs[0][items.first] - logs[1][items.second], runtime)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return 1/deg(s) + 1/deg(t) of each edge, which it is drawn in proportion to."""
        source, target = (np.asarray(end) for end in graph.ends())
        counted = (source != target) | loops_count(self.self_loops, bipartite=graph.bipartite)
        no_draws = np.empty(0, np.uint64)
        ends = (source[counted], target[counted])
        of_source, of_target = _degrees(graph, Items(*ends, *ends, no_draws))
        out = np.full(source.shape, np.nan)
        out[counted] = 1 / of_source[ends[0]] + 1 / of_target[ends[1]]
        return out


def _degrees(graph: Graph, items: Items) -> tuple[Array, Array]:
    """Return the degree of every source and of every target: in both directions, unless the graph is bipartite."""
    out, into = (
        _bincount(ends, nodes) for ends, nodes in ((items.source, graph.num_sources), (items.target, graph.num_targets))
    )
    return (out, into) if graph.bipartite else (out + into, out + into)


def _bincount(ends: Any, nodes: int) -> Array:
    """Count how often each node occurs, in an array or a tensor."""
    counts: Array = ends.bincount(minlength=nodes) if is_tensor(ends) else np.bincount(ends, minlength=nodes)
    return counts
