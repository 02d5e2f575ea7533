"""Columns of Arrow tables as numpy arrays: ids, numbers and lists of numbers; errors name the row or line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError
from lsprune.files.columns import Place, row
from lsprune.graph import Array


def numbers(column: Any, name: str, path: Path, place: Place = row, hint: str = "") -> Array:
    """Return the column as numbers: `[E]`, or `[E, d]` from lists of one length; `hint` ends the message otherwise."""
    import pyarrow as pa

    kind = column.type
    refuse_null(column, name, path, place)
    if is_list(kind):
        length = list_length(column, name, path, place)
        flat = pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type)
        inner = numbers(flat, name, path, lambda entry: place(entry // length))
        return inner.reshape(len(column), length * math.prod(inner.shape[1:]))
    if pa.types.is_dictionary(kind):
        return numbers(column.cast(kind.value_type), name, path, place, hint)
    if len(column) == 0 and pa.types.is_null(kind):  # as pandas writes a table without rows
        return np.empty(0)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise FormatError(f"{path}: column {name!r} must be numbers, got {kind}{_example(column, place)}{hint}")
    return np.asarray(column.to_numpy())


def numbers_or_dates(column: Any, name: str, path: Path, place: Place = row) -> Array:
    """Return one number or date of each row, exactly: dates in their own unit, those with a time zone in UTC."""
    unit = date_unit(column.type)
    if unit:
        refuse_null(column, name, path, place)
        return whole_dates(column, unit)
    values = numbers(column, name, path, place)
    if values.ndim != 1:
        raise FormatError(f"{path}: column {name!r} must hold one number in each row, got lists")
    return values


def date_unit(kind: Any) -> str:
    """Return the unit of a type of dates, as numpy calls it; empty for other types."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return str(kind.unit)
    return "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else ""


def whole_dates(column: Any, unit: str) -> Array:
    """Return a column of dates without nulls as numpy has them, in the same unit."""
    import pyarrow as pa

    whole = column.cast(pa.int32() if unit == "D" else pa.int64())
    return np.asarray(whole.to_numpy()).astype(np.int64).view(f"M8[{unit}]")


def integers(column: Any, name: str, path: Path, place: Place = row, hint: str = "") -> Array:
    """Return the column as whole numbers; `hint` ends the message where it holds something else."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    refuse_null(column, name, path, place)
    if not pa.types.is_integer(column.type):
        if len(column) == 0 and pa.types.is_null(column.type):
            return np.empty(0, np.int64)
        raise FormatError(f"{path}: column {name!r} must be integers, got {column.type}{_example(column, place)}{hint}")
    return np.asarray(column.to_numpy())


def without_missing_integers(column: Any) -> Any:
    """Return a column of labels in which a missing integer or boolean is -1, as integers; others stay as they are."""
    if not hasattr(column, "type"):
        return column
    import pyarrow as pa

    if pa.types.is_boolean(column.type) and column.null_count:
        column = column.cast(pa.int8())
    return column.fill_null(-1) if pa.types.is_integer(column.type) else column


def refuse_null(column: Any, name: str, path: Path, place: Place) -> None:
    """Raise FormatError if a value is missing."""
    import pyarrow.compute as pc

    if column.null_count:
        first = pc.index(pc.is_null(column), True).as_py()
        raise FormatError(f"{path}: column {name!r}, {place(first)}: a value is missing")


def is_list(kind: Any) -> bool:
    """Return whether an Arrow type is a list, of fixed length or not."""
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_fractional(kind: Any) -> bool:
    """Return whether an Arrow type holds numbers that need not be whole."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def list_length(column: Any, name: str, path: Path, place: Place = row) -> int:
    """Return the length that all lists of a column have; 0 where there are none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_fixed_size_list(column.type):
        return int(column.type.list_size)
    if len(column) == 0:
        return 0
    lengths = pc.list_value_length(column)
    first = lengths[0].as_py()
    other = pc.index(pc.not_equal(lengths, first), True).as_py()
    if other >= 0:
        raise FormatError(
            f"{path}: column {name!r}, {place(other)}: lists must have one length, got {first} and "
            f"{lengths[other].as_py()}"
        )
    return int(first)


def check_width(rows: Array, width: tuple[int, ...], name: str, path: Path, place: str) -> None:
    """Raise FormatError if the rows of one part of a table are wider than those of the first."""
    if rows.shape[1:] != width:
        got = f"{width[0] if width else 1} and {rows.shape[1] if rows.ndim > 1 else 1}"
        raise FormatError(f"{path}: column {name!r}, {place}: lists must have one length, got {got}")


def column_of(batch: Any, name: str) -> Any:
    """Return a column of a record batch or a table, chunked as those of tables are."""
    import pyarrow as pa

    column = batch.column(name)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def take_rows(column: Any, order: Array) -> Any:
    """Return the rows of a column in another order."""
    import pyarrow as pa

    return column.take(pa.array(order))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, short enough to stand in ours."""
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


def _example(column: Any, place: Place) -> str:
    return f" ({str(column[0].as_py())[:40]!r} at {place(0)})" if len(column) else ""
