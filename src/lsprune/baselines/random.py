"""Keep an exact share of the edges at random, over the whole graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.items import Items


@dataclass(frozen=True, kw_only=True, repr=False)
class Random(GlobalPruner):
    """Keep a random share of the edges, exact to the edge in every graph.

    Args:
        keep: the share to keep. k: as many edges as a local pruner with this k keeps, the sum of min(k, degree).
        side: whose degree `k` refers to. For the other options see `LSP`.

    >>> Random(keep=0.5)
    Random(keep=0.5)
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "an exact random share of all edges"
    unbiased_problem: ClassVar[str] = ""

    @property
    def needs(self) -> Needs:
        """Say that edges are chosen over the whole graph, which a GPU can do."""
        return replace(super().needs, gpu=True)

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return the random draws of the edges."""
        return items.draw
