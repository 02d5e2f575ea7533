"""No edges at all: the level that shows whether topology matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.pruners import Pruner, SelfLoops, check_choice, short_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class NoEdges(Pruner):
    """Removes every edge; self-loops stay if "free".

    >>> NoEdges()
    NoEdges()
    """

    name: ClassVar[str] = "no-edges"
    about: ClassVar[str] = "removes every edge: does topology matter at all?"
    side: ClassVar[str] = "in"
    symmetric: ClassVar[str | None] = "union"  # both directions go together

    self_loops: SelfLoops = "free"

    def __post_init__(self) -> None:
        check_choice("self_loops", self.self_loops, ("free", "edge", "drop"))

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Array:
        """False everywhere but on free self-loops."""
        if self.self_loops != "free" or graph.bipartite:
            return np.zeros(graph.num_edges, bool)
        source, target = graph.ends()
        return np.equal(source, target)

    def __repr__(self) -> str:
        return short_repr(self)
