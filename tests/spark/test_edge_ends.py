"""Owner and neighbour are read from the columns that hold them, as long integers."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune.spark.edge_ends import NEIGHBOUR_ID, OWNER_ID, EdgeEnds

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)  # PySpark's own


def test_ids(session):
    frame = session.createDataFrame([(1, 2, "a")], "`an end` int, other long, word string")
    ids = EdgeEnds(frame, frame, "an end", "other", None, 1).ids(frame)
    assert [field.dataType.simpleString() for field in ids.schema.fields] == ["bigint", "bigint"]
    (row,) = ids.collect()
    assert (row[OWNER_ID], row[NEIGHBOUR_ID]) == (1, 2)
