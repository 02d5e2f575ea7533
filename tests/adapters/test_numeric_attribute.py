"""Attributes held item by item."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from lsprune import GraphError
from lsprune.adapters.numeric_attribute import attribute_column, numeric_attribute


def test_numbers_become_an_array_and_anything_else_nothing():
    assert numeric_attribute([1, 2, 3], "w").tolist() == [1, 2, 3]
    assert numeric_attribute([np.ones(2), np.zeros(2)], "x").shape == (2, 2)
    for values in ([], [1.0, None], ["a", "b"], [{}, {}]):
        assert numeric_attribute(values, "w") is None


def test_rows_of_different_lengths_are_named():
    with pytest.raises(GraphError, match="attribute 'x' must have the same shape everywhere"):
        numeric_attribute([[1.0], [1.0, 2.0]], "x")


def test_columns_are_exact_numbers_or_dates():
    assert attribute_column([2**60 + 1, 2**60], "t").tolist() == [2**60 + 1, 2**60]
    assert attribute_column([1, 2.5], "t").tolist() == [1.0, 2.5]
    zoned = datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    dates = attribute_column([zoned, np.datetime64("1970-01-02")], "t")
    assert dates.dtype == "M8[ns]" and dates.astype(np.int64).tolist() == [0, 86400 * 10**9]
    assert attribute_column([], "t").shape == (0,)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([2**60 + 1, 2.5], "'t' must be one number or date for each item, got whole numbers beyond 2.53 and floats"),
        ([[1, 2], [3, 4]], "'t' must be one number"),
        (["a", "b"], "'t' must be one number"),
        ([3, datetime(2024, 1, 1)], "'t' must be dates or numbers, got both"),
        ([np.datetime64("NaT")], "'t': a date is missing"),
    ],
)
def test_other_columns_are_refused(values, message):
    with pytest.raises(GraphError, match=message):
        attribute_column(values, "t")
