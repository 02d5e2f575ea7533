"""Which columns of a table hold what, and what they must be like."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa
from pyspark.sql import types as kinds

from lsprune import LSP, FormatError
from lsprune.spark import prune_spark
from lsprune.spark.frames import Values, check_ids, columns_of, kind_of, look, values_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def frame_of(**columns) -> SimpleNamespace:
    """As much of a table as says what its columns are."""
    named = {"number": kinds.DoubleType(), "whole": kinds.LongType(), "word": kinds.StringType(),
             "array": kinds.ArrayType(kinds.FloatType()), "short": kinds.ShortType()}  # fmt: skip
    fields = [kinds.StructField(name, named[kind]) for name, kind in columns.items()]
    return SimpleNamespace(schema=kinds.StructType(fields), columns=list(columns))


def test_a_column_has_one_type_and_ids_are_whole_numbers():
    frame = frame_of(id="whole", x="array", w="word")
    assert [kind_of(frame, name) for name in ("id", "x", "w")] == ["bigint", "array<float>", "string"]
    with pytest.raises(FormatError, match="there must be one column 'y', got 0; the table has 'id', 'x', 'w'"):
        kind_of(frame, "y")
    check_ids(frame, "id")
    with pytest.raises(FormatError, match="column 'w' must hold whole numbers as ids, got string"):
        check_ids(frame, "w")


def test_attributes_are_one_column_of_arrays_or_several_of_numbers():
    frame = frame_of(x="array", a="number", b="whole", w="word")
    assert values_of(frame, "x", "x") == Values("x", ("x",), -1)
    assert values_of(frame, "x", ["a", "b"]) == Values("x", ("a", "b"), 0)
    assert values_of(frame, "x", ()) is None
    with pytest.raises(FormatError, match="x must be one column of arrays or several of numbers, got 'x', 'a'"):
        values_of(frame, "x", ["x", "a"])
    with pytest.raises(FormatError, match="column 'w' must hold numbers or arrays of numbers as x, got string"):
        values_of(frame, "x", "w")


@pytest.mark.parametrize("columns", [("x",), ("a", "b"), ("s",)])
def test_rows_are_read_in_the_type_that_an_empty_table_has(columns):
    table = pa.table({"x": pa.array([[1.0, 2], [3, 4]], pa.list_(pa.float32())), "a": [1.5, 2.5],
                      "b": [1, 2], "s": pa.array([1, 2], pa.int16())})  # fmt: skip
    values = Values("x", columns, 2 if columns == ("x",) else 0)
    frame = frame_of(x="array", a="number", b="whole", s="short")
    read, empty = values.read(table), values.empty(frame)
    assert read.dtype == empty.dtype and read.shape[1:] == empty.shape[1:]
    np.testing.assert_array_equal(read, {"x": [[1, 2], [3, 4]], "a": [[1.5, 1], [2.5, 2]], "s": [1, 2]}[columns[0]])


def test_ids_are_named_id_unless_said_otherwise():
    assert columns_of(frame_of(id="whole", x="array", w="word"), None, None).features == ("x",)
    assert columns_of(frame_of(node="whole", a="number"), None, None).id == "node"
    assert columns_of(frame_of(id="whole", a="number"), None, ()).features == ()
    with pytest.raises(FormatError, match="there must be one column 'id', got 0"):
        columns_of(frame_of(a="number"), None, None)


def test_one_pass_says_what_is_in_a_table(tables):
    edges, nodes = tables
    facts = look(edges, ("source", "target"), values_of(edges, "edge_attr", ["a", "b"]))
    assert (facts.count, facts.least, facts.range) == (900, 0, None)
    assert facts.each == tuple(edges.agg({name: "max"}).first()[0] for name in ("source", "target"))
    assert look(nodes, ("id",), values_of(nodes, "x", "x")).values == Values("x", ("x",), 3)
    assert look(nodes, ("id",), values_of(nodes, "x", "id")).range == (0, 39)
    assert look(nodes.limit(0), ("id",), None).most == -1


def test_what_is_what_in_a_table_of_nodes(session, tables, graph, kept_by):
    edges, nodes = tables
    more = nodes.selectExpr("id", "x", "'word' as word", "1 as label")
    found = kept_by(prune_spark(edges, more, LSP(k=2), position="n"))  # a column x of arrays stands for itself
    np.testing.assert_array_equal(found, kept_by(prune_spark(edges, nodes, LSP(k=2), position="n", features="x")))
    for change, options, said in (
        (["x"], {}, "one column 'id', got 0"),
        (["id", "id as node", "x"], {}, "'id', 'node' may all be ids"),
        (["id", "x"], {"id": "absent"}, "one column 'absent', got 0"),
        (["id", "x[0] as a", "'w' as word"], {}, r"column 'word' must hold numbers .*--x \(x in Python\)"),
    ):
        with pytest.raises(FormatError, match=said):
            prune_spark(edges, nodes.selectExpr(*change), LSP(k=2), **options)
