"""Which adapter reads a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lsprune import GraphError
from lsprune.adapters import find
from lsprune.adapters.tables import kinds
from lsprune.adapters.tables.table_adapter import TableAdapter


def test_tables_have_the_one_adapter():
    assert kinds() == (TableAdapter,)
    assert isinstance(find(pa.table({"src": [1], "dst": [2]})), TableAdapter)


def test_a_single_column_is_not_a_table():
    with pytest.raises(GraphError, match="cannot prune an object of type Int64Array; accepted are .* PyArrow table"):
        find(pa.array([1]))
