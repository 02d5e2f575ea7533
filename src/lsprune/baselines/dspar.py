"""DSpar: edges sampled by the degrees of their ends, a cheap stand-in for effective resistance (Liu et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.numeric.weighted_sampling import log2, log_times
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items


@dataclass(frozen=True, kw_only=True, repr=False)
class DSpar(GlobalPruner):
    """Keeps edges at random, without replacement, with chances proportional to 1/deg(s) + 1/deg(t), to the exact share.

    The degree of a node is the number of edges at it, in either direction (so that of an undirected graph counts twice,
    which changes no chance); between two kinds of nodes, the edges at its end. The paper samples with replacement and
    weighs what is kept; here an edge is kept once, and `prune(rescale=True)` weighs.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. The rest as for every pruner.

    >>> DSpar(keep=0.5)
    DSpar(keep=0.5)
    """

    name: ClassVar[str] = "dspar"
    about: ClassVar[str] = "sampled by 1/degree + 1/degree of the two ends"

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """The times of the race; log2 w = log2(ds + dt) - log2 ds - log2 dt."""
        of_source, of_target = degrees(graph, items)
        logs = [log2(np.maximum(degree, 1), runtime) for degree in (of_source, of_target)]
        both = log2(of_source[items.first] + of_target[items.second], runtime)
        return log_times(items.draw, both - logs[0][items.first] - logs[1][items.second], runtime)


def degrees(graph: Graph, items: Items) -> tuple[Array, Array]:
    """The number of edges at every source and at every target; of one kind of nodes, in both directions."""
    out = np.bincount(items.source, minlength=graph.num_sources)
    into = np.bincount(items.target, minlength=graph.num_targets)
    return (out, into) if graph.bipartite else (out + into, out + into)
