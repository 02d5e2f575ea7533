"""Arrow columns as arrays: numbers of every type, lists of one length, and errors that name the row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import (
    check_width,
    column_of,
    first_line,
    integers,
    is_fractional,
    list_length,
    numbers,
    take_rows,
)

FILE = Path("in.parquet")


def column(*chunks: list, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(chunk, kind) for chunk in chunks])


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_()])
def test_numbers_keep_their_type(kind: pa.DataType) -> None:
    values = [True, False, True] if kind == pa.bool_() else np.array([1, 0, 3], kind.to_pandas_dtype())
    read = numbers(column(values[:1], values[1:], kind=kind), "w", FILE)
    assert read.dtype == np.dtype(kind.to_pandas_dtype())
    assert read.tolist() == list(values)


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2), pa.large_list(pa.float32())])
def test_lists_become_rows(kind: pa.DataType) -> None:
    read = numbers(column([[1, 2]], [[3, 4], [5, 6]], kind=kind), "w", FILE)
    assert read.tolist() == [[1, 2], [3, 4], [5, 6]]
    nested = numbers(column([[[1, 2], [3, 4]]]), "w", FILE)
    assert nested.tolist() == [[1, 2, 3, 4]]
    assert list_length(column([], kind=pa.list_(pa.int8())), "w", FILE) == 0


def test_dictionaries_are_looked_up() -> None:
    ids = column([7, 7, 9]).dictionary_encode()
    assert integers(ids, "s", FILE).tolist() == numbers(ids, "s", FILE).tolist() == [7, 7, 9]


@pytest.mark.parametrize(
    ("values", "read", "message"),
    [
        (column([1], [2, None]), numbers, "column 'w', row 2: a value is missing"),
        (column([1], [2, None]), integers, "column 'w', row 2: a value is missing"),
        (column(["x", "y"]), numbers, r"must be numbers, got string \('x' at row 0\); a hint"),
        (column([0.5]), integers, r"must be integers, got double \('0.5' at row 0\); a hint"),
        (column([[1, 2], [3]]), numbers, "column 'w', row 1: lists must have one length, got 2 and 1"),
        (column([[1, 2], [3, None]]), numbers, "column 'w', row 1: a value is missing"),
    ],
)
def test_refused(values: pa.ChunkedArray, read: object, message: str) -> None:
    with pytest.raises(FormatError, match=rf"in\.parquet: .*{message}"):
        read(values, "w", FILE, hint="; a hint")


def test_small_helpers() -> None:
    batch = pa.record_batch([pa.array([3, 1, 2])], names=["a"])
    for table in (batch, pa.Table.from_batches([batch])):
        assert isinstance(column_of(table, "a"), pa.ChunkedArray)
        assert take_rows(column_of(table, "a"), np.array([1, 2, 0])).to_pylist() == [1, 2, 3]
    assert is_fractional(pa.float32()) and is_fractional(pa.decimal128(5, 2)) and not is_fractional(pa.int8())
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"
    check_width(np.ones((2, 3)), (3,), "w", FILE, "row 0")
    with pytest.raises(FormatError, match="column 'w', row 4: lists must have one length, got 3 and 1"):
        check_width(np.ones(2), (3,), "w", FILE, "row 4")
