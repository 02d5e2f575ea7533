"""Columns as exact numbers: every type of numbers and dates, whatever the time zone of the session."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pytest

from lsprune import FormatError, GraphError

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa  # noqa: E402
from pyarrow import parquet  # noqa: E402

from lsprune.spark.number_columns import NumberColumn, check_named_columns  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def values(frame, name: str) -> list:
    return frame.select(NumberColumn.of(frame, name).values.alias("v")).toArrow()["v"].to_pylist()


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_dates_are_microseconds_in_every_zone_of_the_session(session, zone, tmp_path):
    """Two of these hours are there twice, or not at all, in New York."""
    before = session.conf.get("spark.sql.session.timeZone")
    hours = ["1969-12-31T23:59:59.999999", "2024-03-10T02:30:00.000001", "2024-11-03T01:30", "1983-01-01"]
    moments = np.array(hours, "M8[us]")
    days = moments.astype("M8[D]")
    zoned = pa.array(moments).cast(pa.timestamp("us", "UTC"))
    parquet.write_table(pa.table({"naive": moments, "zoned": zoned, "day": days}), tmp_path / "t.parquet")
    try:
        session.conf.set("spark.sql.session.timeZone", zone)
        frame = session.read.parquet(str(tmp_path / "t.parquet"))
        assert dict(frame.dtypes) == {"naive": "timestamp_ntz", "zoned": "timestamp", "day": "date"}
        assert values(frame, "naive") == values(frame, "zoned") == moments.astype(np.int64).tolist()
        assert values(frame, "day") == days.astype("M8[us]").astype(np.int64).tolist()
    finally:
        session.conf.set("spark.sql.session.timeZone", before)


def test_numbers_stay_as_they_are(session):
    frame = session.createDataFrame(pa.table({
        "long": [2**62 + 1, -(2**63)], "small": pa.array([1, -1], pa.int8()), "float": pa.array([0.5, 2], pa.float32()),
        "flag": [True, False],
    }))  # fmt: skip
    assert values(frame, "long") == [2**62 + 1, -(2**63)]
    assert (
        values(frame, "small") == [1, -1] and values(frame, "float") == [0.5, 2.0] and values(frame, "flag") == [1, 0]
    )
    assert NumberColumn.of(frame, "long").checked(frame, "t").range == (-(2**63), 2**62 + 1)
    assert not NumberColumn.of(frame, "float").whole and NumberColumn.of(frame, "flag").whole


def test_what_is_missing_is_named(session):
    frame = session.createDataFrame(pa.table({
        "none": pa.array([1, None, None]), "nan": [1.0, float("nan"), float("inf")], "word": ["a", "b", "c"],
        "when": pa.array([datetime(2024, 1, 1)] * 2 + [None]), "day": [date(2024, 1, 1)] * 3,
    }))  # fmt: skip
    check_named_columns(frame, ["day"])
    for name, error, message in (
        ("none", GraphError, "column 'none' must have a value in every row, got 2 without"),
        ("nan", GraphError, "column 'nan' must be finite, got 2 that are not"),
        ("when", GraphError, "column 'when' must have a value in every row, got 1 without"),
        ("word", FormatError, "column 'word' must hold numbers or dates, got string"),
        ("absent", FormatError, "there must be one column 'absent'"),
    ):
        with pytest.raises(error, match=message):
            check_named_columns(frame, [name])
