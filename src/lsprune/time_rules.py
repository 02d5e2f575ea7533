"""TimeRule: which edges are within a time, as pruners declare it (`Needs.within`); memory, streams and Spark follow it.

The rule says when an edge takes part; the classes that read the times say where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lsprune.checks import shown
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, missing_column, oriented
from lsprune.times import Place, Times, date_nanoseconds, row, span_nanoseconds

OWNER = "owner"  # value of `until`: the time of the owner itself
Moment = int | float | str  # a number in the caller's own unit, or a date (a span) as text
Exact = int | float | Fraction


@dataclass(frozen=True, kw_only=True)
class TimeRule:
    """Edges take part if `since <= time <= until`, and if they are at most `window` before the latest time.

    Args:
        time: the name of the times: a column of the edges, else of their neighbours.
        until: the latest time, or "owner": that of the node that owns the edge. since: the earliest time.
        window: the longest time before `until`; if `until` is None, before the owner's latest edge since `since`.
        node_time: the name of the owners' times, if it is not `time`. side: which end of an edge owns it.
    """

    time: str
    until: Moment | None = None
    since: Moment | None = None
    window: Moment | None = None
    node_time: str | None = None
    side: str = "in"

    @property
    def owner_time(self) -> str | None:
        """The name of the owners' times; None if they do not matter."""
        return (self.node_time or self.time) if self.until == OWNER else None

    @property
    def by_latest(self) -> bool:
        """Whether the latest edge of each owner has to be known first."""
        return self.until is None and self.window is not None

    @property
    def by_owner(self) -> bool:
        """Whether the latest time differs from owner to owner."""
        return self.by_latest or self.until == OWNER

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that hold times."""
        return tuple(dict.fromkeys((self.time, *(() if self.owner_time is None else (self.owner_time,)))))

    @property
    def names(self) -> tuple[str, str]:
        """How errors call the times of the edges, and those of the owners."""
        return _shown(self.time), f"{_shown(self.node_time or self.time)} of the owners"

    def span(self, dates: bool) -> tuple[Exact | None, Exact | None]:
        """Return the earliest and the latest time that are the same for all owners, as exact numbers; None: none.

        Args:
            dates: the times are dates, in nanoseconds. Raise OptionError if the options are of the other kind.
        """
        least: Exact | None = None if self.since is None else moment_number("since", self.since, dates)
        if self.until is None or self.until == OWNER:
            return least, None
        most = moment_number("until", self.until, dates)
        if (length := self.length(dates)) is not None:
            first = Fraction(most) - Fraction(length)
            least = first if least is None else max(Fraction(least), first)
        return least, most

    def length(self, dates: bool) -> int | float | None:
        """Return the longest time before the latest one, in the unit of the times."""
        if self.window is None:
            return None
        return _in_unit("window", self.window, dates, 'a span such as "7d"', span_nanoseconds)

    def allowed(self, graph: Graph, latest: Array | None = None, place: Place = row) -> Array:
        """Return which edges are within the time, `[E]` bool.

        Args:
            latest: with `by_latest`, what `note_latest` found, if this graph has only some of the edges.
            place: how an error names the place of an edge.
        """
        times = self.edge_times(graph, place)
        allowed = self._in_span(times)
        if not self.by_owner:
            return allowed
        owner = graph.owners_and_neighbours(self.side)[0]
        if self.until == OWNER:
            times, most = times.alike(self._owner_times(graph, owner, place), self.names)
            allowed &= times.values <= most.values
        else:
            latest = self.note_latest(graph, None, place) if latest is None else latest
            most = Times(latest[owner], times.dates)
        length = self.length(times.dates)
        return allowed if length is None else allowed & times.within(most, length)

    def note_latest(self, graph: Graph, latest: Array | None, place: Place = row) -> Array:
        """Return the latest time of each owner's edges since `since`, int64 or float64.

        Args:
            latest: those of other edges, which are updated; None: there are no others.
        """
        times = self.edge_times(graph, place)
        owner, allowed = graph.owners_and_neighbours(self.side)[0], self._in_span(times)
        if latest is None:
            latest = np.full(graph.num_owners(self.side), self.earliest(times.whole), times.values.dtype)
        np.maximum.at(latest, owner[allowed], times.values[allowed])
        return latest

    @staticmethod
    def earliest(whole: bool) -> Any:
        """Return a time that none is before: of owners that have no edge yet."""
        return np.iinfo(np.int64).min if whole else -math.inf

    def edge_times(self, graph: Graph, place: Place = row) -> Times:
        """Return the time of each edge: its own, else that of its neighbour; raise GraphError if there is none."""
        if self.time in (graph.edge_columns or {}):
            return Times.of(graph.edge_columns[self.time], self.names[0], place)
        column = _node_column(graph, self.time, oriented(self.side, 0, 1)[1])
        if column is None:
            raise GraphError(missing_column(graph, self.names[0], "edge or neighbour"))
        return Times.of(column[graph.owners_and_neighbours(self.side)[1]], self.names[0], place)

    def _owner_times(self, graph: Graph, owner: Array, place: Place) -> Times:
        """Return the time of the owner of each edge."""
        name = self.node_time or self.time
        column = _node_column(graph, name, oriented(self.side, 0, 1)[0])
        if column is None:
            raise GraphError(missing_column(graph, f"until={OWNER!r} with {_shown(name)} (or node_time=)", "owner"))
        return Times.of(column[owner], self.names[1], place)

    def _in_span(self, times: Times) -> Array:
        """Return which times are neither before the earliest nor after the latest that all owners share."""
        least, most = self.span(times.dates)
        allowed = np.ones(times.values.shape, bool)
        if least is not None:
            allowed &= times.at_least(least)
        if most is not None:
            allowed &= times.at_most(most)
        return allowed


def moment_number(option: str, value: Moment, dates: bool) -> int | float:
    """Return a time as a number that can be compared with the times; raise OptionError if it is of another kind."""
    return _in_unit(option, value, dates, "a date", date_nanoseconds)


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


def _node_column(graph: Graph, name: str, end: int) -> Array | None:
    """Return the column of sources (0) or targets (1)."""
    column: Array | None = (graph.node_columns or {}).get(name, (None, None))[end]
    return column


def _shown(name: str) -> str:
    return f"time {name!r}"
