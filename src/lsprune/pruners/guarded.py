"""Promises on top of any pruner: protected edges, a minimum per node, connectivity, a maximum degree."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lsprune.checks import check_flag, is_whole, set_whole, shown
from lsprune.errors import BudgetWarning, OptionError, warn
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.pruners import Pruner
from lsprune.pruners.explanation import Explanation, Reason
from lsprune.pruners.promises import JOINS, KEPT, LEAST, OVER, PROTECTED, REST, items_of_graph
from lsprune.pruners.protected_edges import ProtectedEdges
from lsprune.pruners.registry import PRUNERS
from lsprune.pruners.wrapper import Wrapper
from lsprune.selection.forest import forest
from lsprune.selection.mask import Outcome, outcome
from lsprune.selection.self_loops import loops_count

_WORDS = {PROTECTED: "protected", JOINS: "part of the spanning forest (keep_connected)", LEAST: "needed for min_keep",
          OVER: "removed by max_degree"}  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarded(Wrapper):
    """A pruner with promises, within its budget: edges that must stay replace other edges that it would keep.

    Promises come before the budget: if they need more edges than it has, more are kept, and a `BudgetWarning` says how
    many and for which promise. (These are the fewest possible, unless one edge may serve two promises: `min_keep` with
    `keep_connected`, or with pairs.) A hash decides which edges make room. With `symmetric`, edges and their reverses
    are kept or removed together. Self-loops do not count, unless the pruner has self_loops="edge".

    Args:
        pruner: any pruner.
        min_keep: the fewest edges that every node keeps of those it owns (all of them if it has fewer).
        keep_connected: keep a spanning forest, so that connected components stay connected, directions aside.
        protected: edges that stay: a boolean array, or their numbers.
        max_degree: the most edges that a node keeps, of those it owns and of those where it is the neighbour; a pair
            such as (None, 10) sets the two separately. It may cut below the budget and `min_keep`; protected edges and
            the spanning forest stay even above it.

    >>> from lsprune import LSP
    >>> Guarded(pruner=LSP(keep=0.3), min_keep=1)
    Guarded(pruner=LSP(keep=0.3), min_keep=1)
    """

    name: ClassVar[str] = "guarded"
    about: ClassVar[str] = "another pruner with promises: protected edges, minimum, maximum, connectivity"

    min_keep: int = 0
    keep_connected: bool = False
    protected: Any = None
    max_degree: int | tuple[int | None, int | None] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pruner.restricts:
            raise OptionError(
                f"Guarded could bring back edges that its pruner excludes, got {shown(self.pruner)}; put Guarded "
                f"inside instead: {type(self.pruner).__name__}(pruner=Guarded(...))"
            )
        set_whole(self, "min_keep", 0, 2**31 - 1, "a whole number in [0, 2^31)")
        check_flag("keep_connected", self.keep_connected)
        object.__setattr__(self, "keep_connected", bool(self.keep_connected))
        object.__setattr__(self, "max_degree", _checked_degree(self.max_degree))
        if self.protected is not None and not isinstance(self.protected, ProtectedEdges):
            object.__setattr__(self, "protected", ProtectedEdges.of(self.protected))

    @property
    def unbiased_problem(self) -> str:
        """Say that promises decide after the draws."""
        return "promises change what the inner pruner drew"

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Self:
        """Return the same promises on the fitted pruner."""
        fitted = self.pruner.fit(data, categories=categories, threads=threads, executor=executor)
        return dataclasses.replace(self, pruner=fitted)

    def to_dict(self) -> dict[str, Any]:
        """Return the options; protected edges, which belong to one graph, are left out."""
        return {name: value for name, value in super().to_dict().items() if name != "protected"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the promises and the inner pruner; raise OptionError if there are protected edges."""
        if self.protected is not None:
            raise OptionError("protected must be None in a pruner that is saved: such edges belong to one graph")
        super().save(path)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Return what the pruner keeps, changed as little as the promises need; warn if that is over the budget."""
        decision = self._decide(graph, runtime)
        budget = _budget(self.pruner)
        if decision.exceeded and decision.kept > decision.asked and budget:
            warn(self._exceeded(decision, budget), BudgetWarning)
        return outcome(graph, decision.mask, runtime)

    def _exceeded(self, decision: _Decision, budget: str) -> str:
        """Return the warning for promises that need more edges than the budget has."""
        names = {PROTECTED: "protected", JOINS: "keep_connected", LEAST: f"min_keep={self.min_keep}"}
        levels = np.bincount(decision.why[decision.mask & decision.counted], minlength=OVER + 1)
        needs = ", ".join(f"{name} ({levels[level]} edges)" for level, name in names.items() if levels[level])
        total = int(decision.counted.sum())
        return (
            f"{100 * decision.kept / total:.3g} % of the edges are kept ({decision.kept} of {total}), {budget} asks "
            f"for {100 * decision.asked / total:.3g} % ({decision.asked}); the promises need more: {needs}"
        )

    def _decide(self, graph: Graph, runtime: Runtime) -> _Decision:
        """Decide for each edge whether it is kept, and why."""
        mask = self.pruner.mask_graph(graph, runtime).mask.copy()
        protected = np.zeros(mask.shape, bool) if self.protected is None else self.protected.mask(graph.num_edges)
        why = np.where(mask, KEPT, REST).astype(np.int8)
        source, target = graph.ends()
        counted = (source != target) | loops_count(self.self_loops, bipartite=graph.bipartite)
        real = np.flatnonzero(counted | protected)
        items = items_of_graph(graph, self, self.seed, real, counted[real], mask[real], runtime)
        kept = items.items(mask[real])
        level = np.where(items.items(protected[real]), PROTECTED, np.where(kept, KEPT, REST)).astype(np.int8)
        if self.keep_connected:
            in_forest = forest(graph, items.ends, np.lexsort((items.ends.draw, level)))
            level[in_forest] = np.minimum(level[in_forest], JOINS)
        if self.min_keep:
            level[items.least(level, self.min_keep)] = LEAST
        kept_items, exceeded = items.within(kept, level)
        asked = int(np.count_nonzero(mask[real]))
        if self.max_degree is not None:
            over = items.over(kept_items, level, _sides(self.max_degree))
            kept_items[over], level[over] = False, OVER
        mask[real], why[real] = kept_items[items.of_edge], level[items.of_edge]
        return _Decision(mask, why, counted | protected, asked, exceeded)

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        inner = self.pruner._explain(graph, node, run)
        decision = self._decide(graph, run)
        edges = (
            _reason(reason, bool(decision.mask[reason.edge]), int(decision.why[reason.edge])) for reason in inner.edges
        )
        return dataclasses.replace(inner, edges=tuple(edges))


@dataclass(frozen=True, eq=False)
class _Decision:
    """Which edges are kept, and why."""

    mask: Array  # [E] is it kept
    why: Array  # [E] PROTECTED .. OVER
    counted: Array  # [E] does it count for the budget
    asked: int  # counted edges that the inner pruner keeps
    exceeded: bool  # in some graph, the promises need more than that

    @property
    def kept(self) -> int:
        """The number of counted edges that are kept."""
        return int(np.count_nonzero(self.mask & self.counted))


def _budget(pruner: Pruner) -> str:
    """Return the budget of a pruner as text; empty if it has none."""
    if isinstance(pruner, Guarded):
        return _budget(pruner.pruner)
    return next(
        (
            f"{name}={getattr(pruner, name)}"
            for name in ("k", "keep", "budget")
            if getattr(pruner, name, None) is not None
        ),
        "",
    )


def _reason(inner: Reason, kept: bool, why: int) -> Reason:
    """Return the reason for an edge, given the reason of the inner pruner."""
    word = _WORDS.get(
        why, "not kept" if not inner.kept else "kept" if kept else "removed to make room for edges that must stay"
    )
    return dataclasses.replace(inner, kept=kept, why=f"{word}; by the inner pruner: {inner.why}")


def _checked_degree(value: Any) -> int | tuple[int | None, int | None] | None:
    """Return max_degree as an int, a pair or None; raise OptionError for anything else."""
    if value is None or _is_degree(value):
        return None if value is None else int(value)
    if isinstance(value, tuple | list) and len(value) == 2 and all(end is None or _is_degree(end) for end in value):
        own, other = (None if end is None else int(end) for end in value)
        return own, other
    raise OptionError(
        f"max_degree must be a whole number in [1, 2^31), or a pair of these (or None) for owner and neighbour, got "
        f"{shown(value)}"
    )


def _is_degree(value: Any) -> bool:
    return is_whole(value) and 1 <= value < 2**31


def _sides(most: int | tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    return most if isinstance(most, tuple) else (most, most)


PRUNERS.add(Guarded)
