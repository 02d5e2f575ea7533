"""No edges at all: the level that shows whether topology matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.checks import check_choice, short_repr
from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.pruners import Pruner
from lsprune.selection.outcome import Outcome, outcome
from lsprune.selection.rules import SelfLoops


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

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Nothing but free self-loops."""
        source, target = graph.ends()
        free = self.self_loops == "free" and not graph.bipartite
        return outcome(graph, np.equal(source, target) & free, runtime)

    def __repr__(self) -> str:
        return short_repr(self)
