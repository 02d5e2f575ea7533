"""Attributes that objects hold item by item (nodes, edges) as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lsprune.checks import is_whole, refuse_masked
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.times import date_nanoseconds


def numeric_attribute(values: Sequence[Any], name: str) -> Array | None:
    """Return the values of all items as one array; None if there are none, one is missing, or they are no numbers.

    >>> numeric_attribute([[1.0, 2.0], [3.0, 4.0]], "x").shape
    (2, 2)
    """
    if not values or any(value is None for value in values):
        return None
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:
        raise GraphError(f"attribute {name!r} must have the same shape everywhere to be used as features") from None
    return array if array.dtype.kind in "fiub" else None


def attribute_column(values: Sequence[Any], name: str) -> Array:
    """Return one number or date of each item, exactly; raise GraphError if one is missing or something else.

    >>> attribute_column([2**60 + 1, 3], "t").tolist()
    [1152921504606846977, 3]
    """
    try:
        dates = [date_nanoseconds(value) for value in values]
    except ValueError as error:
        raise GraphError(f"attribute {name!r}: {error}") from None
    if values and all(value is not None for value in dates):
        return np.array(dates, np.int64).view("M8[ns]")
    if any(value is not None for value in dates):
        raise GraphError(f"attribute {name!r} must be dates or numbers, got both")
    array = np.asarray(values) if values else np.empty(0, np.int64)
    inexact = array.dtype.kind == "f" and any(is_whole(value) and abs(int(value)) > 2**53 for value in values)
    if array.dtype.kind not in "fiub" or array.ndim != 1 or inexact:
        kind = "whole numbers beyond 2^53 and floats" if inexact else array.dtype
        raise GraphError(f"attribute {name!r} must be one number or date for each item, got {kind}")
    return array
