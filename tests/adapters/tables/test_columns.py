"""Columns of tables as numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from lsprune import FormatError, GraphError
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


def test_a_dataset_whose_first_file_has_other_types_is_refused_and_the_message_says_what_to_do(tmp_path: Path):
    rows = pa.table({"source": [0, 1], "target": [1, 0]})
    pq.write_table(pa.table({"source": pa.nulls(0), "target": pa.nulls(0)}), tmp_path / "0.parquet")
    pq.write_table(rows, tmp_path / "1.parquet")
    with pytest.raises(FormatError, match=r"int64 to null.*name them: pyarrow.dataset.dataset\(path, schema="):
        Table.of(pads.dataset(tmp_path))
    assert Table.of(pads.dataset(tmp_path, schema=rows.schema)).rows == rows
