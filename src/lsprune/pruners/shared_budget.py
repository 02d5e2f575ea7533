"""One budget over all relations of a heterogeneous graph: how many edges each of them keeps.

A level rises from 0 until the budget is spent. At level x, a relation of importance w keeps floor(w * x) edges of each
owner, and one more of a share w * x - floor(w * x) of the owners that have more. So edges come in a fixed order, by
level and then by the name of the relation, and masks are nested in `keep`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from lsprune.adapters.base import Key
from lsprune.checks import check_budget, check_choice, check_number, check_pruner, short_repr, shown
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, oriented
from lsprune.keyword_options import KeywordOptions
from lsprune.numeric.random_numbers import is_tensor
from lsprune.selection.budget import target_count
from lsprune.selection.self_loops import loops_count

if TYPE_CHECKING:
    from lsprune.pruners.contract import Pruner

LEAST_IMPORTANCE, MOST_IMPORTANCE = 1e-6, 1e6
# Finer than any two levels at which relations of up to 2^40 edges gain one: these are fractions over 2 * edges *
# importance, and the importance is a float, so a fraction over at most 2^53.
RESOLUTION = Fraction(1, 2**192)


@dataclass(frozen=True, kw_only=True, repr=False)
class SharedBudget(KeywordOptions):
    """One budget that all relations of a heterogeneous graph compete for, in place of one for each.

    `prune(data, LSP(keep=0.3))` keeps 30 % of every relation; `prune(data, SharedBudget(pruner=LSP(keep=0.3)))` keeps
    30 % of all edges together, met to the edge. A relation whose reverse is pruned in step counts twice; if the last
    edge of the budget would need two, it is not spent. Masks are nested in `keep`.

    Args:
        pruner: the pruner of all relations, or a mapping from edge type to pruner; relations that it does not name stay
            whole and do not count. Budgets of these pruners are replaced by the part that their relation gets. `Timed`
            is refused, whose share is one of the edges that it allows. Promises of `Guarded` come before the budget.
        keep: the share of edges to keep, in (0, 1], over all relations. Default: `keep` of the pruner.
        by: "level": owners keep the same number of edges of every relation, so that a relation with few edges for each
            owner stays whole and a dense one is cut. "share": every relation keeps the same share of its edges.
        importance: how much more of a relation is kept, in [1e-6, 1e6], by edge type; 1 for those it does not name. A
            relation of importance 2 has twice the level or share of others, up to all of its edges.

    >>> from lsprune import LSP, SharedBudget
    >>> SharedBudget(pruner=LSP(keep=0.3), importance={("user", "likes", "item"): 2.0})
    SharedBudget(pruner=LSP(keep=0.3), keep=0.3, importance={('user', 'likes', 'item'): 2.0})
    """

    name: ClassVar[str] = "shared-budget"

    pruner: Pruner | Mapping[Any, Pruner] = field(kw_only=False)
    keep: float | None = None
    by: Literal["level", "share"] = "level"
    importance: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.pruner, Mapping):
            object.__setattr__(self, "pruner", dict(self.pruner))
        for pruner in self.pruners():
            check_pruner(pruner)
            if pruner.with_budget(keep=0.5) == pruner.with_budget(keep=0.25):
                raise OptionError(f"pruner must be one with a budget (k or keep), got {pruner!r}")
            if pruner.restricts:
                raise OptionError(f"pruner must be one that may keep all edges, got {pruner!r}; cut the graph first")
        keep = getattr(self.pruner, "keep", None) if self.keep is None else self.keep
        if keep is None:
            raise OptionError(f"keep, the share of all edges to keep, must be given with {shown(self.pruner)}")
        check_budget(None, keep)
        object.__setattr__(self, "keep", float(keep))
        check_choice("by", self.by, ("level", "share"))
        if self.importance is not None:
            _check_importance(self.importance)
            object.__setattr__(self, "importance", {key: float(value) for key, value in self.importance.items()})

    def __repr__(self) -> str:
        """Show the options that differ from the defaults."""
        return short_repr(self)

    def pruners(self) -> list[Pruner]:
        """Return the pruners of all relations."""
        return list(self.pruner.values()) if isinstance(self.pruner, Mapping) else [self.pruner]

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; what belongs to edge types is a list of pairs.

        >>> from lsprune import LocalRandom, SharedBudget
        >>> shared = SharedBudget(pruner=LocalRandom(keep=0.3), importance={("user", "likes", "item"): 2.0})
        >>> shared.to_dict()["importance"]
        [[['user', 'likes', 'item'], 2.0]]
        >>> SharedBudget.from_dict(shared.to_dict()) == shared
        True
        """
        inner: Any = self.pruner
        tables = _pairs(inner, lambda pruner: pruner.to_dict()) if isinstance(inner, Mapping) else inner.to_dict()
        importance = None if self.importance is None else _pairs(self.importance, float)
        return {"pruner": self.name, "inner": tables, "keep": self.keep, "by": self.by, "importance": importance}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Build the shared budget that `to_dict` described."""
        rest, known = dict(options), ("inner", "keep", "by", "importance")
        if rest.pop("pruner", cls.name) != cls.name:
            raise OptionError(f"pruner must be {cls.name!r} for {cls.__name__}")
        for name in rest:
            if name not in known:
                raise OptionError(f"{name} is not an option of {cls.name}; it has {', '.join(known)}")
        build = import_module("lsprune.pruners.registry").from_dict  # pruners are made after this module
        inner, importance = rest.pop("inner", None), rest.pop("importance", None)
        if isinstance(inner, list):
            inner = {key: build(table) for key, table in _by_edge_type("inner", inner).items()}
        elif isinstance(inner, Mapping):
            inner = build(inner)
        if isinstance(importance, list):
            importance = _by_edge_type("importance", importance)
        return cls(pruner=inner, importance=importance, **rest)

    def divided(
        self, graphs: Mapping[Key, Graph], plan: Mapping[Key, Pruner], turned: Mapping[Key, Key]
    ) -> dict[Key, Pruner]:
        """Return the pruner of each relation, with the part of the budget that the relation gets.

        Args:
            plan: which relation gets which pruner. turned: the relations that get the mask of another, turned round.
        """
        weights, twice = self._weights(plan, turned), set(turned.values())
        shares = {}
        for key in sorted(plan, key=str):
            graph, pruner = graphs[key], plan[key]
            _check_divisible(key, graph, pruner)
            steps = _steps(_degrees(graph, pruner.side, pruner.self_loops), self.by)
            shares[key] = Share(steps, Fraction(weights.get(key, 1.0)), 2 if key in twice else 1)
        edges = sum(share.cost * share.edges for share in shares.values())
        assert self.keep is not None
        counts = divide(shares.values(), int(target_count(self.keep, np.array([edges]))[0]))
        keep = {
            key: max(count, 0.25) / share.edges if share.edges else 1.0  # a quarter of an edge is rounded to none
            for (key, share), count in zip(shares.items(), counts, strict=True)
        }
        return {key: pruner.with_budget(keep=keep[key]) for key, pruner in plan.items()}

    def _weights(self, plan: Mapping[Key, Pruner], turned: Mapping[Key, Key]) -> dict[Key, float]:
        """Return the importance of the relations in `plan`; a relation and its reverse have one between them."""
        weights: dict[Key, float] = {}
        for name, value in (self.importance or {}).items():
            key = turned.get(name, name)
            if key not in plan:
                known = [*plan, *turned]
                raise OptionError(f"importance must name edge types that are pruned, got {name!r}; these are {known}")
            if weights.setdefault(key, value) != value:
                raise OptionError(f"importance must be the same for {key!r} and its reverse, got {self.importance}")
        return weights


@dataclass(frozen=True, eq=False)
class Share:
    """A relation that competes for a budget.

    Args:
        steps: how many edges it gains while its level rises by one: first from 0 to 1, then from 1 to 2, and so on.
        importance: how fast its level rises. cost: what an edge counts.
    """

    steps: Array
    importance: Fraction = Fraction(1)
    cost: int = 1

    @cached_property
    def before(self) -> Array:
        """The number of edges at levels 0, 1, 2 and so on."""
        return np.concatenate([[0], self.steps.cumsum()])

    @property
    def last_level(self) -> int:
        """A level at which all edges are kept."""
        return ceil(len(self.steps) / self.importance)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return int(self.before[-1])

    def count(self, level: Fraction) -> int:
        """Return how many edges are kept at a level; more at a higher one, or as many."""
        own = self.importance * level
        whole = min(int(own), self.steps.shape[0])
        more = int(self.steps[whole : whole + 1].sum())  # 0 above the last step
        return int(self.before[whole]) + int((own - whole) * more + Fraction(1, 2))


def divide(shares: Iterable[Share], budget: int) -> list[int]:
    """Return how many edges each relation keeps; together they cost the budget, or less where the next edge costs more.

    The level is found by bisection, in exact fractions. Of edges that are gained at one level, those of relations that
    come first are kept first.
    """
    shares = list(shares)

    def cost(level: Fraction) -> int:
        return sum(share.cost * share.count(level) for share in shares)

    low, high = Fraction(0), Fraction(1) + max((share.last_level for share in shares), default=0)
    if cost(high) <= budget:
        return [share.edges for share in shares]
    while high - low > RESOLUTION:
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    counts, left = [share.count(low) for share in shares], budget - cost(low)
    for place, share in enumerate(shares):
        wanted = share.count(high) - counts[place]
        given = min(wanted, left // share.cost)
        counts[place] += given
        left -= given * share.cost
        if given < wanted:
            break  # a cheaper edge of a later relation must wait, so that a larger budget keeps all of a smaller one
    return counts


def _pairs(values: Mapping[Any, Any], plain: Callable[[Any], Any]) -> list[list[Any]]:
    """Return values by edge type as a list of pairs, which JSON and TOML can hold."""
    return [[list(key) if isinstance(key, tuple) else key, plain(value)] for key, value in values.items()]


def _by_edge_type(option: str, pairs: list[Any]) -> dict[Any, Any]:
    """Return what `_pairs` was made of; raise OptionError if it is no list of pairs."""
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise OptionError(f"{option} must be pairs of an edge type and its value, got {shown(pairs)}")
    return {tuple(key) if isinstance(key, list) else key: value for key, value in pairs}


def _degrees(graph: Graph, side: str, self_loops: str) -> Array:
    """Return how many edges each owner has, without self-loops that do not count."""
    source, target = graph.ends()
    owner = oriented(side, source, target)[0]
    if not loops_count(self_loops, bipartite=graph.bipartite):
        owner = owner[source != target]
    if is_tensor(owner):
        counts: Array = owner.bincount().cpu().numpy()  # type: ignore[attr-defined]  # a tensor of torch
        return counts
    return np.bincount(owner)


def _steps(degree: Array, by: str) -> Array:
    """Return how many edges are gained from level to level: one for each owner that has as many, or all at once."""
    if by == "share":
        return np.array([degree.sum()], np.int64)
    return np.bincount(degree)[::-1].cumsum()[::-1][1:]


def _check_importance(importance: Any) -> None:
    if not isinstance(importance, Mapping):
        raise OptionError(f"importance must map edge types to numbers, got {shown(importance)}")
    for key, value in importance.items():
        check_number(f"importance of {key!r}", value, LEAST_IMPORTANCE, MOST_IMPORTANCE)


def _check_divisible(key: Key, graph: Graph, pruner: Pruner) -> None:
    """Raise OptionError for a relation whose edges cannot be counted one by one."""
    if pruner.symmetric or graph.undirected:
        raise OptionError(f"symmetric must be None where relations share a budget, got {pruner!r} for {key!r}")
    if graph.num_graphs > 1:
        raise OptionError(f"a shared budget must be given for one graph at a time, got {graph.num_graphs} graphs")
