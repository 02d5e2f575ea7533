"""Ids are whole numbers from 0 up to the number of nodes; the first one that is not is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsprune.errors import FormatError, GraphError
from lsprune.files.ids import check_ids, far_error

FILE = Path("in.npz")
DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8")


@given(st.lists(st.integers(-3, 120), max_size=8), st.sampled_from(DTYPES), st.none() | st.integers(0, 130))
def test_the_first_id_out_of_range_is_named(values: list[int], dtype: str, limit: int | None) -> None:
    values = [abs(value) for value in values] if "u" in dtype else values
    array = np.array(values, dtype)
    negative = [i for i, value in enumerate(values) if value < 0]
    beyond = [i for i, value in enumerate(values) if limit is not None and value >= limit]
    if not negative and not beyond:
        assert check_ids(array, "s", FILE, limit=limit) is array
        return
    first, allowed = (negative[0], ">= 0") if negative else (beyond[0], f"in [0, {limit})")
    with pytest.raises(GraphError) as caught:
        check_ids(array, "s", FILE, limit=limit)
    assert str(caught.value) == f"in.npz: column 's', row {first}: ids must be {allowed}, got {values[first]}"


def test_types_and_shapes() -> None:
    for array, message in (
        (np.zeros((2, 2), int), r"must have one dimension, got shape \[2, 2\]"),
        (np.zeros(2), "must be integers, got float64"),
        (np.array(["a"]), "must be integers, got <U1"),
        (np.array([1, 2**63], np.uint64), "row 1: id 9223372036854775808 exceeds 63 bits"),
    ):
        with pytest.raises(FormatError, match=message):
            check_ids(array, "s", FILE)
    assert check_ids(np.array([]), "s", FILE).size == 0  # floats only for lack of a value
    assert check_ids(np.array([2**63 - 1]), "s", FILE)[0] == 2**63 - 1


def test_the_error_for_a_far_id_says_where_it_stands() -> None:
    assert "in.csv: line 2: id 7 is far beyond the 3 edges" in str(far_error(7, 3, "in.csv: line 2"))
