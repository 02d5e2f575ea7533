"""Columns of numbers or dates in Spark that pruners ask for by name: as exact numbers, with none missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from lsprune.errors import FormatError, GraphError
from lsprune.spark.columns import INTEGER_TYPES, column, column_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SECOND = 10**6  # microseconds
_DAY = 86400 * _SECOND


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column as numbers: `long` or `double`; dates are microseconds since 1970, in UTC if they have a time zone."""

    values: Column
    dates: bool
    whole: bool
    range: tuple[Any, Any] = (0, 0)  # the smallest and the largest value, once `checked` has looked

    @classmethod
    def of(cls, frame: DataFrame, name: str) -> NumberColumn:
        """Return a column of numbers or dates; raise FormatError for any other."""
        kind, values = column_type(frame, name), column(name)
        if kind in (*INTEGER_TYPES, "boolean"):
            return cls(values.cast("long"), dates=False, whole=True)
        if kind in ("float", "double"):
            return cls(values.cast("double"), dates=False, whole=False)
        makers = {"date": _of_date, "timestamp": F.unix_micros, "timestamp_ntz": _of_local_time}
        if kind not in makers:
            raise FormatError(f"column {name!r} must hold numbers or dates, got {kind}")
        return cls(makers[kind](values), dates=True, whole=True)

    def checked(self, frame: DataFrame, label: str) -> NumberColumn:
        """Return the column with its range, in one job; raise GraphError if a value is missing or not finite.

        Args:
            label: how errors call the column.
        """
        bad = F.lit(False) if self.whole else F.isnan(self.values) | (F.abs(self.values) == float("inf"))
        counts = [F.count_if(self.values.isNull()), F.count_if(bad), F.min(self.values), F.max(self.values)]
        row: Any = frame.agg(*(count.alias(f"c{i}") for i, count in enumerate(counts))).first()
        if row[0]:
            raise GraphError(f"{label} must have a value in every row, got {row[0]} without")
        if row[1]:
            raise GraphError(f"{label} must be finite, got {row[1]} that are not: a value is missing")
        return replace(self, range=(0, 0) if row[2] is None else (row[2], row[3]))


def check_named_columns(frame: DataFrame, names: Sequence[str]) -> None:
    """Raise FormatError or GraphError unless these columns of the edges hold a number or a date in every row."""
    for name in names:
        NumberColumn.of(frame, name).checked(frame, f"column {name!r}")


def _of_date(values: Column) -> Column:
    return F.unix_date(values).cast("long") * F.lit(_DAY)


def _of_local_time(values: Column) -> Column:
    """Return microseconds of a time without a zone, whatever the zone of the session."""
    second = (F.date_part(F.lit("SECOND"), values) * F.lit(_SECOND)).cast("long")  # decimal, with its fraction
    minutes = F.hour(values).cast("long") * F.lit(60) + F.minute(values)
    return _of_date(values.cast("date")) + minutes * F.lit(60 * _SECOND) + second
