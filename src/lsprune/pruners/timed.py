"""Time: let nodes choose only among edges that are old enough, or recent enough."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lsprune import adapters
from lsprune.adapters.arrays import cut_edges
from lsprune.checks import is_number, is_whole, shown
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.contract import Pruner
from lsprune.pruners.explanation import Explanation, Reason
from lsprune.pruners.registry import PRUNERS
from lsprune.pruners.wrapper import Wrapper
from lsprune.selection.mask import Outcome
from lsprune.time_rules import OWNER, Moment, TimeRule, moment_number
from lsprune.times import date_nanoseconds, show_date, show_span, span_nanoseconds


@dataclass(frozen=True, kw_only=True, repr=False)
class Timed(Wrapper):
    """A pruner that sees only edges within a time: `since <= time <= until`, both ends included.

    Edges outside of it are removed first, self-loops too, and count in neither `k` nor `keep`. The inner pruner then
    chooses among the others as if there were no more. Times are whole numbers, floats or dates, one for each edge;
    where only nodes have times, the time of an edge is that of its neighbour. Whole numbers and dates are compared
    exactly, also beyond 2^53; a missing time is an error. Dates with a time zone are converted to UTC, others are taken
    as they are.

    The last n edges of each node are `TopWeight(k=n, column="time")`, alone or within `Timed`.

    Args:
        pruner: any pruner.
        time: the name of the times: a column of a table or a file, an attribute of a PyG, NetworkX or igraph object.
        until: the latest time: a number in the unit of the times, a date if they are dates ("2024-01-31T12:00", or of
            Python, numpy or pandas), or "owner": the time of the node that owns the edge.
        since: the earliest time.
        window: the longest time before `until`; if `until` is None, before the owner's latest edge that is allowed. A
            number, or for dates a span such as "7d", "36h", "90min", "5s", or of Python, numpy or pandas.
        node_time: the name of the owners' times, for until="owner", if it is not `time`.

    >>> from lsprune import LSP
    >>> Timed(pruner=LSP(k=8), time="timestamp", until="2024-01-31", window="7d")
    Timed(pruner=LSP(k=8), time='timestamp', until='2024-01-31T00:00:00', window='7d')
    """

    name: ClassVar[str] = "timed"
    about: ClassVar[str] = "another pruner among edges within a time: a cut, the owner's own time, a window"

    time: str = "time"
    until: Any = None
    since: Any = None
    window: Any = None
    node_time: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("time",) if self.node_time is None else ("time", "node_time"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise OptionError(f"{name} must be the name of a column of times, got {shown(value)}")
            object.__setattr__(self, name, str(value))
        words = f'a number, a date such as "2024-01-31" or {OWNER!r}'
        until = self.until
        object.__setattr__(self, "until", OWNER if _is_owner(until) else _moment("until", until, words))
        object.__setattr__(self, "since", _moment("since", self.since, 'a number or a date such as "2024-01-31"'))
        object.__setattr__(self, "window", _span(self.window))
        if self.until is None and self.since is None and self.window is None:
            raise OptionError("until, since or window must be given, got None for all of them")
        _check_order(self.since, self.until)
        _refuse_protected(self.pruner)

    @property
    def rule(self) -> TimeRule:
        """When an edge takes part."""
        options = {name: getattr(self, name) for name in ("time", "until", "since", "window", "node_time")}
        return TimeRule(**options, side=self.side)

    @property
    def needs(self) -> Needs:
        """Say what the inner pruner needs, and that it may see only the edges within the time."""
        inner, rule = self.pruner.needs, self.rule
        names = tuple(dict.fromkeys((*rule.columns, *inner.edge_columns)))
        reason = inner.reason or "edges that timed rules out must be removed first, as prune_stream and prune_spark do"
        within = (rule, *inner.within)
        return dataclasses.replace(inner, edge_columns=names, within=within, reason=reason, gpu=False)

    def among_allowed(self) -> Pruner:
        """Return the pruner within, which chooses among the edges that are within the time."""
        return self.pruner.among_allowed()

    def around(self, pruner: Pruner) -> Self:
        """Return the same times around another pruner."""
        return dataclasses.replace(self, pruner=self.pruner.around(pruner))

    @property
    def restricts(self) -> bool:
        """Say that edges are ruled out."""
        return True

    @property
    def each_direction(self) -> bool:
        """Whether the owner's time decides, who is another node in the reverse relation."""
        return self.rule.by_owner or self.pruner.each_direction

    @property
    def unbiased_problem(self) -> str:
        """Say why sums over the allowed edges cannot be unbiased; empty if the inner pruner's are."""
        return self.pruner.unbiased_problem

    def unbiased_factors(self, graph: Graph, mask: Array, runtime: Runtime) -> Array:
        """Return factors that make sums over the allowed edges unbiased."""
        allowed = self._within(graph)
        factors = np.ones(mask.shape, np.float32)
        factors[allowed] = self.pruner.unbiased_factors(cut_edges(graph, allowed), mask[allowed], runtime)
        return factors

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Self:
        """Return the same options on a pruner that was fitted on the allowed edges."""
        graphs = adapters.find(data).configured(columns=self.needs.edge_columns).graphs(data)
        if set(graphs) != {None}:
            raise OptionError("fit must be given one relation at a time; fit a pruner for each edge type")
        seen = cut_edges(graphs[None], self._within(graphs[None]))
        fitted = self.pruner.fit(seen, categories=categories, threads=threads, executor=executor)
        return dataclasses.replace(self, pruner=fitted)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Return what the inner pruner keeps of the allowed edges; nodes that have none of these are not isolated."""
        allowed = self._within(graph)
        inner = self.pruner.mask_graph(cut_edges(graph, allowed), runtime)
        mask = np.zeros(allowed.shape, bool)
        mask[allowed] = inner.mask
        return Outcome(mask, inner.isolated, inner.kept)

    def allowed(self, graph: Graph) -> Array:
        """Return which edges neither the time nor the inner pruner rules out."""
        allowed = self._within(graph)
        if self.pruner.restricts:
            allowed[allowed] = self.pruner.allowed(cut_edges(graph, allowed))
        return allowed

    def _within(self, graph: Graph) -> Array:
        """Return which edges are within the time, `[E]` bool."""
        if graph.undirected and self.rule.by_owner:
            raise GraphError(
                f"until={self.until!r} with window={self.window!r} depends on the owner of an edge, and an "
                "undirected edge has two; make the graph directed, or give a time as until"
            )
        return self.rule.allowed(graph)

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        allowed, times = self._within(graph), self.rule.edge_times(graph)
        inner = self.pruner._explain(cut_edges(graph, allowed), node, run)
        places = np.flatnonzero(allowed)
        kept = [dataclasses.replace(reason, edge=int(places[reason.edge])) for reason in inner.edges]
        owner, neighbour = graph.owners_and_neighbours(self.side)
        outside = [
            Reason(int(e), int(neighbour[e]), False, None, f"ruled out by its time, {times.show(int(e))}")
            for e in np.flatnonzero(~allowed & (owner == node))
        ]
        return dataclasses.replace(inner, edges=(*kept, *outside))


def _is_owner(value: Any) -> bool:
    return isinstance(value, str) and value == OWNER


def _moment(option: str, value: Any, wanted: str) -> Moment | None:
    """Return a time as a number or as text; raise OptionError for anything else."""
    if value is None:
        return None
    try:
        if (date := date_nanoseconds(value)) is not None:
            return show_date(date)
    except (ValueError, OverflowError) as error:
        raise OptionError(f"{option} must be {wanted}, got {shown(value)}: {error}") from None
    number = _plain_number(value)
    if number is None:
        raise OptionError(f"{option} must be {wanted}, got {shown(value)}")
    return number


def _span(value: Any) -> Moment | None:
    """Return a length of time as a number or as text; raise OptionError for anything else."""
    wanted = 'a number >= 0, or a span such as "7d" (ns, us, ms, s, min, h, d)'
    if value is None:
        return None
    try:
        span = span_nanoseconds(value)
    except ValueError as error:
        raise OptionError(f"window must be {wanted}, got {shown(value)}: {error}") from None
    number = _plain_number(value) if span is None else span
    if number is None or not 0 <= number < 2**63:
        raise OptionError(f"window must be {wanted}, got {shown(value)}")
    return number if span is None else show_span(span)


def _plain_number(value: Any) -> int | float | None:
    """Return a finite number as Python has it; None for anything else."""
    if is_whole(value):
        return int(value) if -(2**63) <= int(value) < 2**63 else None
    if not is_number(value) or not math.isfinite(value):
        return None
    return float(value)


def _check_order(since: Moment | None, until: Moment | None) -> None:
    """Raise OptionError if no time can be within both."""
    if since is None or until is None or until == OWNER or isinstance(since, str) != isinstance(until, str):
        return
    dates = isinstance(since, str)
    if moment_number("since", since, dates) > moment_number("until", until, dates):
        raise OptionError(f"since must be no later than until, got {shown(since)} and {shown(until)}")


def _refuse_protected(pruner: Any) -> None:
    """Raise OptionError for protected edges within: they are numbered in the whole graph."""
    while pruner is not None:
        if getattr(pruner, "protected", None) is not None:
            raise OptionError("pruner must not protect edges within Timed: time may remove them, and numbers change")
        pruner = getattr(pruner, "pruner", None)


PRUNERS.add(Timed)
