"""Edges within a time on Spark: filters and joins that leave out the others before anything is counted or learned.

Times stay whole numbers: dates are microseconds, which Spark stores, and numbers are long integers as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F

from lsprune.errors import FormatError
from lsprune.files.columns import listed
from lsprune.graph import oriented
from lsprune.spark.columns import choose_node_columns, column
from lsprune.spark.number_columns import NumberColumn
from lsprune.spark.tables import GraphTables
from lsprune.spark.tasks import ID_COLUMN
from lsprune.time_rules import Exact, TimeRule
from lsprune.times import Times, float_toward

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TIME_COLUMN, LATEST_COLUMN = "_lsprune_time", "_lsprune_latest"  # that are added to the edges
_MICROSECOND = 1000  # nanoseconds
_INT64 = np.iinfo(np.int64)


def within_time(tables: GraphTables, rules: Sequence[TimeRule]) -> DataFrame:
    """Return the edges that all rules allow, one rule after the other, with the same columns."""
    for rule in rules:
        tables = replace(tables, edges=TimeFilter(tables, rule).edges())
    return tables.edges


@dataclass(frozen=True, eq=False)
class TimeFilter:
    """The tables of a graph, whose ids have been checked, and a rule."""

    tables: GraphTables
    rule: TimeRule

    def edges(self) -> DataFrame:
        """Return the allowed edges; raise GraphError if a time is missing."""
        rule, (frame, times) = self.rule, self._edge_times()
        time, latest = F.col(TIME_COLUMN), F.col(LATEST_COLUMN)
        frame = frame.where(_in_span(time, times, rule))
        if rule.owner_time is not None:
            rows, own = self._node_times(rule.owner_time, owners=True)
            frame = self._join(frame, rows.withColumnRenamed(TIME_COLUMN, LATEST_COLUMN), owners=True)
            if _as_floats(times, own, rule):
                time, latest = time.cast("double"), latest.cast("double")
                times = replace(times, whole=False)
            frame = frame.where(time <= latest)
        elif rule.by_latest:
            owner = column(self._end(owners=True)).cast("long").alias(ID_COLUMN)
            frame = self._join(frame, frame.groupBy(owner).agg(F.max(time).alias(LATEST_COLUMN)), owners=True)
        if rule.by_owner and (length := rule.length(times.dates)) is not None:
            frame = frame.where(_at_most_before(time, latest, times, length))
        return frame.select(*map(column, self.tables.edges.columns))

    def _end(self, *, owners: bool) -> str:
        """Return the column of the edges with their owners, or with their neighbours."""
        return oriented(self.rule.side, self.tables.source, self.tables.target)[0 if owners else 1]

    def _edge_times(self) -> tuple[DataFrame, NumberColumn]:
        """Return the edges with a column of times, their own or those of their neighbours, and what these are."""
        edges, name = self.tables.edges, self.rule.time
        if name in edges.columns:
            times = NumberColumn.of(edges, name).checked(edges, self.rule.names[0])
            return edges.withColumn(TIME_COLUMN, times.values), times
        rows, times = self._node_times(name, owners=False)
        return self._join(edges, rows, owners=False), times

    def _node_times(self, name: str, *, owners: bool) -> tuple[DataFrame, NumberColumn]:
        """Return the times of the owners or of the neighbours by their ids, and what these are."""
        tables, end = self.tables, oriented(self.rule.side, 0, 1)[0 if owners else 1]
        frame = tables.node_frame(end)
        if frame is None or name not in frame.columns:
            there = listed([*tables.edges.columns, *(() if frame is None else frame.columns)])
            what = "owners" if owners else "edges or neighbours"
            raise FormatError(f"no column {name!r} with times of the {what}; there are {there}")
        times = NumberColumn.of(frame, name).checked(frame, self.rule.names[1 if owners else 0])
        id = tables.target_id if tables.two_kinds and end else tables.id
        ids = choose_node_columns(frame, id, ()).id
        assert ids is not None
        return frame.select(column(ids).cast("long").alias(ID_COLUMN), times.values.alias(TIME_COLUMN)), times

    def _join(self, frame: DataFrame, rows: DataFrame, *, owners: bool) -> DataFrame:
        return frame.join(rows, column(self._end(owners=owners)) == F.col(ID_COLUMN), "inner").drop(ID_COLUMN)


def _in_span(time: Column, times: NumberColumn, rule: TimeRule) -> Column:
    """Return the condition that a time is within the bounds that all owners share."""
    least, most = rule.span(times.dates)
    if not times.whole:
        above = F.lit(True) if least is None else time >= F.lit(float_toward(least, math.inf))
        return above if most is None else above & (time <= F.lit(float_toward(most, -math.inf)))
    first = _INT64.min if least is None else math.ceil(_unit(least, times))
    last = _INT64.max if most is None else math.floor(_unit(most, times))
    if first > _INT64.max or last < _INT64.min:
        return F.lit(False)
    return time.between(F.lit(max(first, _INT64.min)), F.lit(min(last, _INT64.max)))


def _at_most_before(time: Column, latest: Column, times: NumberColumn, length: int | float) -> Column:
    """Return the condition that a time is at most so long before the latest one."""
    if not times.whole:
        return latest - time <= F.lit(float(length))
    gap = latest.cast("decimal(20,0)") - time.cast("decimal(20,0)")  # of long integers it could overflow
    return gap <= F.lit(math.floor(_unit(length, times)))


def _unit(number: Exact, times: NumberColumn) -> Fraction:
    """Return a time or a span in the unit of the column."""
    return Fraction(number) / (_MICROSECOND if times.dates else 1)


def _as_floats(times: NumberColumn, own: NumberColumn, rule: TimeRule) -> bool:
    """Return whether times of edges and owners are compared as floats; raise GraphError if that would not be exact."""
    first, second = (
        Times(np.array(one.range, np.int64 if one.whole else np.float64), one.dates) for one in (times, own)
    )
    alike, _ = first.alike(second, rule.names)
    return times.whole != own.whole and not alike.whole
