"""Remove every edge: shows whether topology matters at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.checks import check_choice, short_repr
from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.pruners import Pruner
from lsprune.selection.mask import Outcome, outcome
from lsprune.selection.self_loops import SELF_LOOPS, SelfLoops, uncounted_loops_stay


@dataclass(frozen=True, kw_only=True, repr=False)
class NoEdges(Pruner):
    """Remove every edge; keep self-loops if `self_loops="free"`.

    >>> NoEdges()
    NoEdges()
    """

    name: ClassVar[str] = "no-edges"
    about: ClassVar[str] = "no edges at all: shows whether topology matters"
    side: ClassVar[str] = "in"
    symmetric: ClassVar[str | None] = "union"  # both directions of an edge are removed

    self_loops: SelfLoops = "free"

    def __post_init__(self) -> None:
        check_choice("self_loops", self.self_loops, SELF_LOOPS)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Keep self-loops that are free, and nothing else."""
        source, target = graph.ends()
        free = uncounted_loops_stay(self.self_loops) and not graph.bipartite
        return outcome(graph, np.equal(source, target) & free, runtime)

    def __repr__(self) -> str:
        return short_repr(self)
