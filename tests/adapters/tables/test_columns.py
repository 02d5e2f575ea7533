"""Columns of tables as numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from lsprune import GraphError
from lsprune.adapters.tables.columns import Table, library_of, numbers, refuse_missing


def test_lists_of_one_length_are_rows():
    column = Table.of(pa.table({"x": [[1.0, 2.0], [3.0, 4.0]]})).column("x")
    assert numbers(column, "x").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(GraphError, match="lists of one length, got .1, 2."):
        numbers(pa.chunked_array([[[1.0], [1.0, 2.0]]]), "x")


def test_dates_are_whole_numbers():
    stamps = pa.chunked_array([pa.array([5, 9]).cast(pa.timestamp("ns", "UTC"))])
    assert numbers(stamps, "t").tolist() == [5, 9]
    days = pa.chunked_array([pa.array([3], pa.int32()).cast(pa.date32())])
    assert numbers(days, "d").tolist() == [3]


def test_what_is_missing_or_no_number_is_named():
    with pytest.raises(GraphError, match="column 'x', row 2: a value is missing"):
        refuse_missing(np.array(["a", 1, None], object), "x")
    with pytest.raises(GraphError, match="must be numbers, got Python objects"):
        numbers(np.array(["a", 1], object), "x")


def test_only_tables_are_tables():
    assert library_of(pa.table({"a": [1]})) == "pyarrow"
    assert library_of(pa.array([1])) == "" and library_of({"src": [1]}) == ""
