"""Edges dropped at random over the whole graph, to the exact share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items


@dataclass(frozen=True, kw_only=True, repr=False)
class Random(GlobalPruner):
    """Keeps a random share of the edges, met to the edge in every graph.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. The rest as for every pruner.

    >>> Random(keep=0.5)
    Random(keep=0.5)
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "a random share of all edges, exact"

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """The draws themselves."""
        return items.draw
