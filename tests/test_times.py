"""Dates, spans and numbers as exact times."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pytest

from lsprune import GraphError
from lsprune.times import (
    Times,
    array_nanoseconds,
    date_nanoseconds,
    show_date,
    show_span,
    span_nanoseconds,
)

BIG = 2**60  # float64 holds every 256th whole number here
SECOND = 10**9


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [
        ("1970-01-02", 86400 * SECOND),
        ("1970-01-01 00:00:01", SECOND),
        ("1970-01-01T00:00:00.000000001", 1),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00+02:00", -7200 * SECOND),
        ("1970-01-01T00:00-0130", 5400 * SECOND),
        (date(1970, 1, 2), 86400 * SECOND),
        (datetime(1970, 1, 1, 0, 0, 1, 7), SECOND + 7000),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (np.datetime64("1970-01", "M"), 0),
        (np.datetime64(BIG + 1, "ns"), BIG + 1),
        (7, None), (7.5, None), ("owner", None), ("2024", None), (None, None), ([], None),
    ],
    ids=str,
)  # fmt: skip
def test_dates_become_nanoseconds(value, nanoseconds):
    assert date_nanoseconds(value) == nanoseconds
    if nanoseconds is not None:
        assert date_nanoseconds(show_date(nanoseconds)) == nanoseconds


def test_dates_of_pandas_keep_their_nanoseconds_and_lose_their_zone():
    pandas = pytest.importorskip("pandas")
    stamp = pandas.Timestamp(BIG + 1, tz="Europe/Berlin")
    assert date_nanoseconds(stamp) == BIG + 1
    assert span_nanoseconds(pandas.Timedelta(BIG + 1, "ns")) == BIG + 1
    with pytest.raises(ValueError, match="missing"):
        date_nanoseconds(pandas.NaT)


@pytest.mark.parametrize("value", ["2024-13-01", "9999-01-01", np.datetime64("NaT"), np.datetime64("9999-01-01")])
def test_dates_that_cannot_be_are_refused(value):
    with pytest.raises(ValueError, match=r"missing|years|[Mm]onth"):
        date_nanoseconds(value)


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns", "W", "M", "10ms"])
def test_arrays_of_every_unit_agree_with_single_dates(unit):
    dates = np.array([-3, 0, 5, 400]).astype(f"M8[{unit}]")
    expected = [int(d.astype("M8[ns]").astype(np.int64)) for d in dates]
    assert array_nanoseconds(dates).tolist() == expected
    with pytest.raises(ValueError, match="NaT.*row 1"):
        array_nanoseconds(np.array([0, "NaT"], f"M8[{unit}]"))


def test_picoseconds_are_refused():
    with pytest.raises(ValueError, match="nanosecond or more"):
        array_nanoseconds(np.array([1], "M8[ps]"))


@pytest.mark.parametrize(
    ("value", "nanoseconds"),
    [("7d", 7 * 86400 * SECOND), ("36 h", 36 * 3600 * SECOND), ("90min", 5400 * SECOND), ("5s", 5 * SECOND),
     ("3ms", 3_000_000), ("2us", 2000), ("1ns", 1), (timedelta(days=-1, microseconds=1), -86400 * SECOND + 1000),
     (np.timedelta64(2, "W"), 14 * 86400 * SECOND), (np.timedelta64(3, "m"), 180 * SECOND), (5, None), ("5", None),
     ("5 years", None), ("-1s", None)],
    ids=str,
)  # fmt: skip
def test_spans_become_nanoseconds(value, nanoseconds):
    assert span_nanoseconds(value) == nanoseconds
    if nanoseconds is not None and nanoseconds > 0:
        assert span_nanoseconds(show_span(nanoseconds)) == nanoseconds


def test_a_missing_span_is_refused():
    for value in (np.timedelta64("NaT"), np.timedelta64(1, "Y")):
        with pytest.raises(ValueError, match="units from nanoseconds to weeks"):
            span_nanoseconds(value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.float64, np.float32, np.float16, bool])
def test_limits_are_compared_as_fractions_are(dtype):
    """The definition: every time and every limit as an exact fraction."""
    rng = np.random.default_rng(0)
    scale = BIG if dtype in (np.int64, np.uint64) else 1
    column = (rng.integers(0, 9, 40) + scale * (scale > 1)).astype(dtype)
    times = Times.of(column, "t")
    exact = [Fraction(value.item()) for value in column]
    limits = [
        scale + 3,
        scale + 3.5,
        Fraction(10 * scale + 31, 10),
        0.1,
        float(BIG),
        2**63 - 1,
        -(2**63),
        10**30,
        -(10**30),
    ]
    for limit in (*limits, *exact[:5]):
        assert times.at_most(limit).tolist() == [value <= limit for value in exact]
        assert times.at_least(limit).tolist() == [value >= limit for value in exact]


def test_gaps_between_far_times_do_not_overflow():
    values, latest = np.array([-(2**63), 0, BIG]), np.array([2**63 - 1] * 3)
    within = Times(values).within(Times(latest), 2**63 - 1 - BIG)
    assert within.tolist() == [False, False, True]
    assert Times(values).within(Times(latest), 2**63 - 1).tolist() == [False, True, True]
    assert Times(np.array([1.0, 2.5])).within(Times(np.array([3.0, 3.0])), 0.5).tolist() == [False, True]


def test_whole_numbers_and_floats_are_compared_only_if_that_is_exact():
    whole, floats = Times(np.array([3, 4])), Times(np.array([3.5, 3.5]))
    first, second = whole.alike(floats, ("a", "b"))
    assert (first.values <= second.values).tolist() == [True, False]
    same = Times(np.array([BIG + 1]))
    assert same.alike(Times(np.array([BIG])), ("a", "b"))[0] is same
    with pytest.raises(GraphError, match="a must be below 2.53"):
        same.alike(floats, ("a", "b"))
    with pytest.raises(GraphError, match="a and b must both be dates or both be numbers, got dates and numbers"):
        Times(np.array([1]), dates=True).alike(whole, ("a", "b"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.array([1.0, np.nan]), "t must be finite, got nan in row 1: a time is missing"),
        (np.array([np.inf]), "t must be finite"),
        (np.array(["2024-01-01", "NaT"], "M8[s]"), r"t: a date is missing \(NaT\) in row 1"),
        (np.array([2**63], np.uint64), "t must be below 2.63"),
        (np.array(["a"]), "t must be whole numbers, floats .* or dates, got <U1"),
    ],
)
def test_what_is_no_time_is_one_clear_error(column, message):
    with pytest.raises(GraphError, match=message):
        Times.of(column, "t")


def test_times_show_themselves():
    times = Times.of(np.array(["2024-01-31"], "M8[D]"), "t")
    assert times.dates and times.show(0) == "2024-01-31T00:00:00"
    assert Times(np.array([5, 7])).take(np.array([1])).show(0) == "7"
