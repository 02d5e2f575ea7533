"""One pass over a table tells how many rows it has and between which numbers its ids are, and finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import FormatError, GraphError
from lsprune.spark.checked_table import CheckedTable, table_facts
from lsprune.spark.columns import AttributeColumns, attribute_columns

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def test_one_pass_says_what_is_in_a_table(tables):
    edges, nodes = tables
    facts = table_facts(edges, ("source", "target"), attribute_columns(edges, "edge_attr", ["a", "b"]))
    assert (facts.count, facts.smallest_id, facts.integer_range) == (900, 0, None)
    assert facts.largest_ids == tuple(edges.agg({name: "max"}).first()[0] for name in ("source", "target"))
    assert table_facts(nodes, ("id",), attribute_columns(nodes, "x", "x")).attributes == AttributeColumns(
        "x", ("x",), 3
    )
    assert table_facts(nodes, ("id",), attribute_columns(nodes, "x", "id")).integer_range == (0, 39)
    assert table_facts(nodes.limit(0), ("id",), None).largest_id == -1


def test_a_checked_table_knows_the_shape_of_its_attributes(tables):
    _, nodes = tables
    vectors, ids = (CheckedTable.of(nodes, ("id",), "x", columns) for columns in ("x", ()))
    assert (vectors.width, ids.width) == (3, 0)
    assert vectors.empty().shape == (0, 3) and vectors.empty().dtype == np.float32
    assert ids.empty() is None


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (["cast(id as string) as id", "x"], FormatError, "'id' must hold whole numbers as ids, got string"),
        (["id", "'w' as x"], FormatError, "column 'x' must hold numbers or arrays of numbers as x, got string!$"),
        (["nullif(id, 5) as id", "x"], GraphError, "column 'id' must have ids in every row, got 1 without"),
        (["id - 3 as id", "x"], GraphError, "ids must be >= 0, got -3 in column 'id'"),
        (["id", "transform(x, v -> nullif(v, v)) as x"], GraphError, "'x' must have x in every row, got 40 without"),
        (["id", "slice(x, 1, 1 + id % 2) as x"], GraphError, "x must have arrays of one length, got 1 and 2"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(tables, change, error, said):
    with pytest.raises(error, match=said):
        CheckedTable.of(tables[1].selectExpr(*change), ("id",), "x", "x", "!")
