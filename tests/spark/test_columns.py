"""Which columns of a table hold what, and what they must be like."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa
from pyspark.sql import types as kinds

from lsprune import FormatError
from lsprune.spark.columns import (
    AttributeColumns,
    attribute_columns,
    check_id_column,
    choose_node_columns,
    column_type,
    value_type,
)


def frame_of(**columns) -> SimpleNamespace:
    """As much of a table as says what its columns are."""
    named = {"number": kinds.DoubleType(), "whole": kinds.LongType(), "word": kinds.StringType(),
             "array": kinds.ArrayType(kinds.FloatType()), "short": kinds.ShortType()}  # fmt: skip
    fields = [kinds.StructField(name, named[kind]) for name, kind in columns.items()]
    return SimpleNamespace(schema=kinds.StructType(fields), columns=list(columns))


def test_a_column_has_one_type_and_ids_are_whole_numbers():
    frame = frame_of(id="whole", x="array", w="word")
    assert [column_type(frame, name) for name in ("id", "x", "w")] == ["bigint", "array<float>", "string"]
    assert value_type(frame, "x") == "float"
    with pytest.raises(FormatError, match="there must be one column 'y', got 0; the table has 'id', 'x', 'w'"):
        column_type(frame, "y")
    check_id_column(frame, "id")
    with pytest.raises(FormatError, match="column 'w' must hold whole numbers as ids, got string"):
        check_id_column(frame, "w")


def test_attributes_are_one_column_of_arrays_or_several_of_numbers():
    frame = frame_of(x="array", a="number", b="whole", w="word")
    assert attribute_columns(frame, "x", "x") == AttributeColumns("x", ("x",), -1)
    assert attribute_columns(frame, "x", ["a", "b"]) == AttributeColumns("x", ("a", "b"), 0)
    assert attribute_columns(frame, "x", ()) is None
    with pytest.raises(FormatError, match="x must be one column of arrays or several of numbers, got 'x', 'a'"):
        attribute_columns(frame, "x", ["x", "a"])
    with pytest.raises(FormatError, match="column 'w' must hold numbers or arrays of numbers as x, got string"):
        attribute_columns(frame, "x", "w")


@pytest.mark.parametrize("columns", [("x",), ("a", "b"), ("s",)])
def test_rows_are_read_in_the_type_that_an_empty_table_has(columns):
    table = pa.table({"x": pa.array([[1.0, 2], [3, 4]], pa.list_(pa.float32())), "a": [1.5, 2.5],
                      "b": [1, 2], "s": pa.array([1, 2], pa.int16())})  # fmt: skip
    values = AttributeColumns("x", columns, 2 if columns == ("x",) else 0)
    frame = frame_of(x="array", a="number", b="whole", s="short")
    read, empty = values.read(table), values.empty(frame)
    assert read.dtype == empty.dtype and read.shape[1:] == empty.shape[1:]
    np.testing.assert_array_equal(read, {"x": [[1, 2], [3, 4]], "a": [[1.5, 1], [2.5, 2]], "s": [1, 2]}[columns[0]])


def test_ids_are_named_id_unless_said_otherwise():
    assert choose_node_columns(frame_of(id="whole", x="array", w="word"), None, None).features == ("x",)
    assert choose_node_columns(frame_of(node="whole", a="number"), None, None).id == "node"
    assert choose_node_columns(frame_of(id="whole", a="number"), None, ()).features == ()
    with pytest.raises(FormatError, match="there must be one column 'id', got 0"):
        choose_node_columns(frame_of(a="number"), None, None)
