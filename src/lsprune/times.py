"""Times of edges and nodes as exact numbers: dates are whole nanoseconds since 1970 in UTC, numbers stay."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from lsprune.checks import Array
from lsprune.errors import GraphError

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
_NUMPY_UNITS = {**_UNITS, "m": _UNITS["min"], "D": _UNITS["d"]}  # numpy writes "m" and "D"
_DATE = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?)(Z|[+-]\d\d:?\d\d)?")
_SPAN = re.compile(r"(\d{1,19}) ?(ns|us|ms|s|min|h|d)")
_LONGEST_EXACT = 2**53  # float64 holds all whole numbers up to it
Place = Callable[[int], str]  # how an error names the place of a time


def row(position: int) -> str:
    """Return how an error names a row, counted from 0."""
    return f"row {position}"


def date_nanoseconds(value: Any) -> int | None:
    """Return a date as nanoseconds since 1970; None if it is none; raise ValueError if it is missing or out of range.

    Dates are those of Python, numpy and pandas, and text such as "2024-01-31" or "2024-01-31T09:30:00.5+02:00". Those
    with a time zone are converted to UTC; others are taken as they are.

    >>> date_nanoseconds("1970-01-01T00:00:00.000000001"), date_nanoseconds("1970-01-01T01:00+01:00")
    (1, 0)
    """
    if isinstance(value, str):
        return _parse_date(value)
    if hasattr(value, "to_datetime64"):  # pandas
        value = value.to_datetime64()
    elif isinstance(value, datetime):
        value = np.datetime64(value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None))
    elif isinstance(value, date):
        value = np.datetime64(value)
    return int(array_nanoseconds(np.array([value]))[0]) if isinstance(value, np.datetime64) else None


def _parse_date(text: str) -> int | None:
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    zone, shift = match[2] or "Z", 0
    if zone != "Z":
        minutes = 60 * int(zone[1:3]) + int(zone[-2:])
        shift = (-minutes if zone[0] == "-" else minutes) * _UNITS["min"]
    return int(array_nanoseconds(np.array([np.datetime64(match[1].replace(" ", "T"))]))[0]) - shift


def array_nanoseconds(dates: Array, place: Place = row) -> Array:
    """Return a `datetime64` array of any unit as int64 nanoseconds, exactly; raise ValueError if it cannot be."""
    if np.isnat(dates).any():
        raise ValueError(f"a date is missing (NaT) in {place(int(np.argmax(np.isnat(dates))))}")
    unit, count = np.datetime_data(dates.dtype)
    if unit in ("Y", "M", "W"):
        dates, unit, count = dates.astype("M8[D]"), "D", 1
    if unit not in _NUMPY_UNITS:
        raise ValueError(f"dates must be in units of a nanosecond or more, got {dates.dtype}")
    scale, values = _NUMPY_UNITS[unit] * count, dates.astype(np.int64)
    if values.size and max(-int(values.min()), int(values.max())) > (2**63 - 1) // scale:
        raise ValueError("dates must be in the years 1678 to 2261, whose nanoseconds fit into 64 bits")
    return values * scale


def show_date(nanoseconds: int) -> str:
    """Return nanoseconds since 1970 as text, which `date_nanoseconds` reads.

    >>> show_date(0), show_date(1_500_000_000)
    ('1970-01-01T00:00:00', '1970-01-01T00:00:01.500000000')
    """
    text = str(np.datetime64(nanoseconds, "ns"))
    return text.removesuffix(".000000000")


def span_nanoseconds(value: Any) -> int | None:
    """Return a span of time as nanoseconds: of Python, numpy or pandas, or text such as "7d"; None if it is none.

    >>> span_nanoseconds("36h") == span_nanoseconds(timedelta(days=1.5)), span_nanoseconds(3)
    (True, None)
    """
    if isinstance(value, str):
        match = _SPAN.fullmatch(value.strip())
        return None if match is None else int(match[1]) * _UNITS[match[2]]
    if hasattr(value, "to_timedelta64"):  # pandas
        value = value.to_timedelta64()
    elif isinstance(value, timedelta):
        return ((value.days * 86400 + value.seconds) * 10**6 + value.microseconds) * 1000
    if not isinstance(value, np.timedelta64):
        return None
    unit, count = np.datetime_data(value.dtype)
    if np.isnat(value) or unit not in (*_NUMPY_UNITS, "W"):
        raise ValueError(f"a span must be in units from nanoseconds to weeks, got {value!r}")
    return int(value.astype(np.int64)) * count * (7 * _UNITS["d"] if unit == "W" else _NUMPY_UNITS[unit])


def show_span(nanoseconds: int) -> str:
    """Return nanoseconds as text with the largest unit that divides them.

    >>> show_span(36 * 3600 * 10**9), show_span(1)
    ('36h', '1ns')
    """
    unit = max((name for name in _UNITS if nanoseconds % _UNITS[name] == 0), key=lambda name: _UNITS[name])
    return f"{nanoseconds // _UNITS[unit]}{unit}"


@dataclass(frozen=True, eq=False)
class Times:
    """Times that are compared exactly: whole numbers never pass through floats.

    Args:
        values: `[n]` int64 or float64.
        dates: whether they are dates, in nanoseconds since 1970; otherwise numbers in the caller's own unit.
    """

    values: Array
    dates: bool = False

    @classmethod
    def of(cls, column: Array, name: str, place: Place = row) -> Times:
        """Return the times in a column; raise GraphError if one is missing, or is neither number nor date.

        Args:
            name, place: how errors call the column, and the place of a time in it.
        """
        if column.dtype.kind == "M":
            try:
                return cls(array_nanoseconds(column, place), dates=True)
            except ValueError as error:
                raise GraphError(f"{name}: {error}") from None
        if column.dtype.kind in "ib" or (column.dtype.kind == "u" and column.dtype.itemsize < 8):
            return cls(column.astype(np.int64, copy=False))
        if column.dtype.kind == "u":
            if column.size and int(column.max()) >= 2**63:
                raise GraphError(f"{name} must be below 2^63, got {int(column.max())}")
            return cls(column.astype(np.int64))
        if column.dtype.kind != "f" or column.dtype.itemsize > 8:
            raise GraphError(f"{name} must be whole numbers, floats of 64 bits or less, or dates, got {column.dtype}")
        if not (finite := np.isfinite(column)).all():
            bad = int(np.argmin(finite))
            raise GraphError(f"{name} must be finite, got {column[bad]} in {place(bad)}: a time is missing")
        return cls(column.astype(np.float64))

    @property
    def whole(self) -> bool:
        """Whether they are integers."""
        return self.values.dtype.kind == "i"

    def show(self, place: int) -> str:
        """Return one of the times as text."""
        return show_date(int(self.values[place])) if self.dates else str(self.values[place])

    def take(self, places: Array) -> Times:
        """Return the times at these places."""
        return Times(self.values[places], self.dates)

    def at_most(self, limit: int | float | Fraction) -> Array:
        """Return which times are no later than a number, exactly."""
        if self.whole:
            return ~self.at_least(math.floor(limit) + 1)
        return np.asarray(self.values <= float_toward(limit, -math.inf))

    def at_least(self, limit: int | float | Fraction) -> Array:
        """Return which times are no earlier than a number, exactly."""
        if self.whole:
            least = math.ceil(limit)
            if least > np.iinfo(np.int64).max:
                return np.zeros(self.values.shape, bool)
            return np.asarray(self.values >= max(least, np.iinfo(np.int64).min))
        return np.asarray(self.values >= float_toward(limit, math.inf))

    def within(self, latest: Times, span: int | float) -> Array:
        """Return which times are at most `span` before the latest; those after it do not matter."""
        if not self.whole:
            return np.asarray(latest.values - self.values <= span)
        gap = latest.values.view(np.uint64) - self.values.view(np.uint64)  # exact: it is >= 0 where it matters
        return np.asarray(gap <= math.floor(span))

    def alike(self, other: Times, names: tuple[str, str]) -> tuple[Times, Times]:
        """Return both as times that can be compared; raise GraphError if that is not possible exactly."""
        if self.dates != other.dates:
            kinds = tuple("dates" if times.dates else "numbers" for times in (self, other))
            raise GraphError(
                f"{names[0]} and {names[1]} must both be dates or both be numbers, got {' and '.join(kinds)}"
            )
        if self.whole == other.whole:
            return self, other
        return self._as_floats(names[0]), other._as_floats(names[1])

    def _as_floats(self, name: str) -> Times:
        values = self.values
        if self.whole and values.size and max(-int(values.min()), int(values.max())) > _LONGEST_EXACT:
            raise GraphError(
                f"{name} must be below 2^53 to be compared with floats exactly; make both of them integers"
            )
        return Times(values.astype(np.float64))


def float_toward(limit: int | float | Fraction, direction: float) -> float:
    """Return the nearest float that is not beyond the limit, coming from `direction`."""
    try:
        near = float(limit)
    except OverflowError:
        near = math.inf if limit > 0 else -math.inf
    beyond = near > limit if direction < 0 else near < limit
    return math.nextafter(near, direction) if beyond else near
