"""Remove every edge: shows whether topology matters at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.checks import check_choice, short_repr
from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
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
    unbiased_problem: ClassVar[str] = "it keeps no edges"
    side: ClassVar[str] = "in"
    symmetric: ClassVar[str | None] = "union"  # both directions of an edge are removed

    self_loops: SelfLoops = "free"

    def __post_init__(self) -> None:
        check_choice("self_loops", self.self_loops, SELF_LOOPS)

    @property
    def needs(self) -> Needs:
        """Say that a GPU can do it too."""
        return replace(super().needs, gpu=True)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Keep self-loops that are free, and nothing else."""
        source, target = graph.ends()
        free = uncounted_loops_stay(self.self_loops) and not graph.bipartite
        if runtime.device is not None:
            loops: Any = source == target
            there: Outcome = import_module("lsprune.device.mask").outcome(graph, loops & free)
            return there
        return outcome(graph, np.equal(source, target) & free, runtime)

    def __repr__(self) -> str:
        return short_repr(self)
