"""Time: let nodes choose only among edges that are old enough, or recent enough."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from lsprune import adapters
from lsprune.adapters.arrays import cut_edges
from lsprune.checks import is_number, is_whole, shown
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.explanation import Explanation, Reason
from lsprune.pruners.registry import PRUNERS
from lsprune.pruners.wrapper import Wrapper
from lsprune.selection.mask import Outcome
from lsprune.times import Times, date_nanoseconds, show_date, show_span, span_nanoseconds
from lsprune.weights.column import missing_column

OWNER = "owner"  # value of `until`: the time of the owner itself
Moment = int | float | str  # a number in the caller's own unit, or a date as text


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
    def needs(self) -> Needs:
        """Say that the times of all edges are needed first."""
        owners = (self.node_time or self.time,) if self.until == OWNER else ()
        inner = self.pruner.needs
        reason = (
            "timed must see the whole graph at once: filter the rows by time first (DuckDB, pyarrow, Spark), which is "
            "the same with until= and since=, and give the inner pruner"
        )
        names = tuple(dict.fromkeys((self.time, *owners, *inner.edge_columns)))
        return Needs(scope="graph", reason=reason, edge_columns=names)

    @property
    def restricts(self) -> bool:
        """Say that edges are ruled out."""
        return True

    @property
    def each_direction(self) -> bool:
        """Whether the owner's time decides, who is another node in the reverse relation."""
        return self._by_owner or self.pruner.each_direction

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

    @property
    def _by_owner(self) -> bool:
        """Whether the latest time differs from owner to owner."""
        return self.until == OWNER or (self.window is not None and self.until is None)

    def _within(self, graph: Graph) -> Array:
        """Return which edges are within the time, `[E]` bool."""
        if graph.undirected and self._by_owner:
            raise GraphError(
                f"until={self.until!r} with window={self.window!r} goes by the owner of an edge, and an "
                "undirected edge has two; make the graph directed, or give until a time"
            )
        times = self._edge_times(graph)
        dates = times.dates
        allowed = np.ones(times.values.shape, bool)
        if self.since is not None:
            allowed &= times.at_least(_number("since", self.since, dates))
        if self._by_owner:
            return allowed & self._within_owners(graph, times, allowed)
        if self.until is not None:
            until = _number("until", self.until, dates)
            allowed &= times.at_most(until)
            if self.window is not None:
                allowed &= times.at_least(Fraction(until) - Fraction(_length(self.window, dates)))
        return allowed

    def _within_owners(self, graph: Graph, times: Times, allowed: Array) -> Array:
        """Return which edges are within the time that their owners allow."""
        owner = graph.owners_and_neighbours(self.side)[0]
        if self.until == OWNER:
            times, latest = times.alike(self._owner_times(graph, owner), (_shown(self.time), self._owner_name))
            within = np.asarray(times.values <= latest.values)
        else:
            least: Any = np.iinfo(np.int64).min if times.whole else -math.inf
            most = np.full(graph.num_owners(self.side), least, times.values.dtype)
            np.maximum.at(most, owner[allowed], times.values[allowed])
            latest, within = Times(most[owner], times.dates), allowed
        if self.window is not None:
            within = within & times.within(latest, _length(self.window, times.dates))
        return within

    @property
    def _owner_name(self) -> str:
        return f"{_shown(self.node_time or self.time)} of the owners"

    def _edge_times(self, graph: Graph) -> Times:
        """Return the time of each edge: its own, else that of its neighbour."""
        if self.time in (graph.edge_columns or {}):
            return Times.of(graph.edge_columns[self.time], _shown(self.time))
        column = self._node_column(graph, self.time, oriented(self.side, 0, 1)[1])
        if column is None:
            raise GraphError(missing_column(graph, _shown(self.time), "edge or neighbour"))
        return Times.of(column[graph.owners_and_neighbours(self.side)[1]], _shown(self.time))

    def _owner_times(self, graph: Graph, owner: Array) -> Times:
        """Return the time of the owner of each edge."""
        name = self.node_time or self.time
        column = self._node_column(graph, name, oriented(self.side, 0, 1)[0])
        if column is None:
            raise GraphError(missing_column(graph, f"until={OWNER!r} with {_shown(name)} (or node_time=)", "owner"))
        return Times.of(column[owner], self._owner_name)

    def _node_column(self, graph: Graph, name: str, end: int) -> Array | None:
        """Return the column of sources (0) or targets (1)."""
        column: Array | None = (graph.node_columns or {}).get(name, (None, None))[end]
        return column

    def _explain(self, graph: Graph, node: int, run: Runtime) -> Explanation:
        allowed, times = self._within(graph), self._edge_times(graph)
        inner = self.pruner._explain(cut_edges(graph, allowed), node, run)
        places = np.flatnonzero(allowed)
        kept = [dataclasses.replace(reason, edge=int(places[reason.edge])) for reason in inner.edges]
        owner, neighbour = graph.owners_and_neighbours(self.side)
        outside = [
            Reason(int(e), int(neighbour[e]), False, None, f"ruled out by its time, {times.show(int(e))}")
            for e in np.flatnonzero(~allowed & (owner == node))
        ]
        return dataclasses.replace(inner, edges=(*kept, *outside))


def _shown(name: str) -> str:
    return f"time {name!r}"


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


def _number(option: str, value: Moment, dates: bool) -> int | float:
    """Return a time as a number that can be compared with the times; raise OptionError if it is of another kind."""
    return _in_unit(option, value, dates, "a date", date_nanoseconds)


def _length(value: Moment, dates: bool) -> int | float:
    """Return a length of time in the unit of the times."""
    return _in_unit("window", value, dates, 'a span such as "7d"', span_nanoseconds)


def _in_unit(
    option: str, value: Moment, dates: bool, text: str, nanoseconds: Callable[[str], int | None]
) -> int | float:
    """Return a number as it is and text in nanoseconds; raise OptionError if the times are of the other kind."""
    if isinstance(value, str) != dates:
        wanted = f"{text}, since the times are dates" if dates else "a number, since the times are numbers"
        raise OptionError(f"{option} must be {wanted}, got {shown(value)}")
    if not isinstance(value, str):
        return value
    number = nanoseconds(value)
    assert number is not None
    return number


def _check_order(since: Moment | None, until: Moment | None) -> None:
    """Raise OptionError if no time can be within both."""
    if since is None or until is None or until == OWNER or isinstance(since, str) != isinstance(until, str):
        return
    dates = isinstance(since, str)
    if _number("since", since, dates) > _number("until", until, dates):
        raise OptionError(f"since must be no later than until, got {shown(since)} and {shown(until)}")


def _refuse_protected(pruner: Any) -> None:
    """Raise OptionError for protected edges within: they are numbered in the whole graph."""
    while pruner is not None:
        if getattr(pruner, "protected", None) is not None:
            raise OptionError("pruner must not protect edges within Timed: time may remove them, and numbers change")
        pruner = getattr(pruner, "pruner", None)


PRUNERS.add(Timed)
