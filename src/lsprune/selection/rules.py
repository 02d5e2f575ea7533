"""The options that selection follows, shared by all pruners that have a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lsprune.checks import check_budget, check_choice, check_flag, check_seed
from lsprune.errors import OptionError
from lsprune.graph import SIDES, Graph
from lsprune.selection.per_node import PerNode
from lsprune.selection.self_loops import SELF_LOOPS, SelfLoops

Symmetric = Literal["union", "intersection"]


@dataclass(frozen=True, kw_only=True)
class SelectionRules:
    """Who owns an edge, how many edges an owner keeps, and what becomes of pairs and self-loops.

    Args:
        k: the most edges an owner keeps. keep: the share of edges to keep, in (0, 1], met to the edge. budget: a number
            for each owner by itself, such as `PerNode(share=0.3)`. Exactly one of the three.
        side: "in": the target owns an edge (what it aggregates); "out": the source does.
        symmetric: keep both directions of an edge when either ("union") or both ("intersection") owners take it.
        self_loops: "free" (kept, not counted), "edge" (like any other) or "drop".
        pooled: meet `keep` over all graphs together instead of in each of them.
        seed: the only source of randomness.
    """

    k: int | None = None
    keep: float | None = None
    budget: PerNode | None = None
    side: Literal["in", "out"] = "in"
    symmetric: Symmetric | None = None
    self_loops: SelfLoops = "free"
    pooled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", PerNode.of(self.budget))
        check_budget(self.k, self.keep, self.budget)
        check_choice("side", self.side, SIDES)
        check_choice("symmetric", self.symmetric, (None, "union", "intersection"))
        check_choice("self_loops", self.self_loops, SELF_LOOPS)
        check_flag("pooled", self.pooled)
        check_seed(self.seed)
        for name, kind in (("k", int), ("keep", float), ("pooled", bool), ("seed", int)):  # numpy scalars to Python's
            if getattr(self, name) is not None:
                object.__setattr__(self, name, kind(getattr(self, name)))

    @property
    def budget_options(self) -> dict[str, Any]:
        """The budget as options: k, keep or budget, the other two None."""
        return {"k": self.k, "keep": self.keep, "budget": self.budget}

    def symmetry(self, graph: Graph) -> str | None:
        """Say how pairs are kept together in this graph; raise if they should be and it has none."""
        mode = self.symmetric or ("union" if graph.undirected else None)
        if mode and graph.bipartite:
            raise OptionError("symmetric must be None for a relation between two node types: it has no reverse edges")
        return mode
