"""Keep a random spanning forest, which preserves connectivity, then random edges up to the share."""

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
    """Keep a random spanning forest, then random edges, to an exact share.

    The forest connects all nodes that are connected in the graph, regardless of directions, with one edge (or pair, if
    symmetric) between two nodes. It is the minimum spanning forest of random draws, which is not uniform over all
    forests. A budget smaller than the forest keeps the forest edges with the smallest draws, and does not preserve
    connectivity.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. For the other options see `LSP`.

    >>> SpanningForest(keep=0.5)
    SpanningForest(keep=0.5)
    """

    name: ClassVar[str] = "spanning-forest"
    about: ClassVar[str] = "a random spanning forest, then random edges: preserves connectivity"

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return 0 for the edges of the forest and 1 for the rest; random draws break ties."""
        return np.where(forest(graph, items, np.argsort(items.draw, kind="stable")), 0, 1)
