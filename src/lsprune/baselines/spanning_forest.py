"""A spanning forest first, so that what was connected stays connected; then random edges up to the share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.forest import forest
from lsprune.selection.items import Items


@dataclass(frozen=True, kw_only=True, repr=False)
class SpanningForest(GlobalPruner):
    """Keeps a random spanning forest and then random edges, to the exact share.

    The forest joins what the graph joins, directions aside, with one edge (or pair, if symmetric) between two nodes. It
    is the minimum spanning forest of random draws, which is not uniform over all forests. A budget smaller than the
    forest keeps the forest edges with the smallest draws, as many as fit; then not all stays connected.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. The rest as for every pruner.

    >>> SpanningForest(keep=0.5)
    SpanningForest(keep=0.5)
    """

    name: ClassVar[str] = "spanning-forest"
    about: ClassVar[str] = "a random spanning forest, then random edges"

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """0 for the forest, 1 for the rest: the draws order both."""
        return np.where(forest(graph, items, np.argsort(items.draw, kind="stable")), 0, 1)
