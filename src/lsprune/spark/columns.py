"""Columns of tables in Spark: which hold ids and which attributes, their types, and Arrow data as numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import date_unit, whole_dates
from lsprune.files.columns import stack
from lsprune.files.node_table import ID_NAMES, NodeColumns, id_column, node_columns
from lsprune.graph import Array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

INTEGER_TYPES = ("tinyint", "smallint", "int", "bigint")
_DTYPES = {
    "tinyint": np.int8, "smallint": np.int16, "int": np.int32, "bigint": np.int64, "float": np.float32,
    "double": np.float64, "boolean": np.bool_,
}  # fmt: skip
_NODE_TABLE = "the table of nodes"  # in errors
_MAX_SHOWN_COLUMNS = 12  # in errors


@dataclass(frozen=True)
class AttributeColumns:
    """The columns that hold the attributes of nodes or edges: one column of arrays, or columns of numbers."""

    name: str  # of the attributes in errors
    columns: tuple[str, ...]
    array_length: int  # 0: columns of numbers; -1: arrays whose length is not known yet

    @property
    def width(self) -> int:
        """Number of values in a row."""
        return self.array_length or len(self.columns)

    def read(self, table: pa.Table) -> Array:
        """Return the attributes `[n]` or `[n, d]` of the rows of a table."""
        if not self.array_length:
            values = stack([to_numpy(table.column(name)) for name in self.columns])
            assert values is not None
            return values
        chunks = table.column(self.columns[0]).chunks
        parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in chunks]
        return np.concatenate(parts or [np.empty(0, np.float32)]).reshape(-1, self.array_length)

    def empty(self, frame: DataFrame) -> Array:
        """Return an array without rows, of the type and shape that `read` returns for this frame."""
        dtype = np.result_type(*(_DTYPES[value_type(frame, name)] for name in self.columns))
        is_vector = self.array_length or len(self.columns) > 1
        return np.empty((0, self.width) if is_vector else 0, dtype)


def to_numpy(column: pa.ChunkedArray | pa.Array) -> Array:
    """Return a column of numbers without nulls as an array."""
    array: Array = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return array


def to_numbers(column: pa.ChunkedArray) -> Array:
    """Return a column of numbers or dates without nulls as an array, in its own type."""
    unit = date_unit(column.type)
    return whole_dates(column, unit) if unit else to_numpy(column)


def column(name: str) -> Column:
    """Return the column with exactly this name, which may contain dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def column_type(frame: DataFrame, name: str) -> str:
    """Return the type of a column as Spark spells it; raise FormatError unless there is one column of that name."""
    types = [field.dataType.simpleString() for field in frame.schema.fields if field.name == name]
    if len(types) != 1:
        names = ", ".join(map(repr, frame.columns[:_MAX_SHOWN_COLUMNS]))
        raise FormatError(f"there must be one column {name!r}, got {len(types)}; the table has {names}")
    return types[0]


def value_type(frame: DataFrame, name: str) -> str:
    """Return the type of a column, or of the entries of its arrays."""
    return column_type(frame, name).removeprefix("array<").removesuffix(">")


def check_id_column(frame: DataFrame, name: str) -> None:
    """Raise FormatError unless the column holds whole numbers."""
    kind = column_type(frame, name)
    if kind not in INTEGER_TYPES:
        raise FormatError(
            f"column {name!r} must hold whole numbers as ids, got {kind}; number the nodes first, for instance by a "
            f"table (name, id) that both tables are joined with"
        )


def choose_node_columns(frame: DataFrame, id: str | None, features: str | Sequence[str] | None) -> NodeColumns:
    """Return the columns of ids and features of a node table, by the rule for files; None: by their names.

    Raise FormatError if there is no column of ids: the rows of a table in Spark have no order.
    """
    named = (features,) if isinstance(features, str) else tuple(features or ())
    for name in (*((id,) if id else ()), *named):
        column_type(frame, name)
    is_array = {field.name: field.dataType.simpleString().startswith("array<") for field in frame.schema.fields}
    id_name = id_column(is_array, id, named, _NODE_TABLE)
    if id_name is None:
        column_type(frame, ID_NAMES[0])  # raises FormatError
    if features is not None and not named:
        return NodeColumns(id_name, ())
    return node_columns(is_array, id_name, named, _NODE_TABLE)


def attribute_columns(
    frame: DataFrame, name: str, columns: str | Sequence[str], hint: str = ""
) -> AttributeColumns | None:
    """Return the columns of attributes; None if `columns` is empty. Raise FormatError unless they hold numbers.

    Args:
        name: of the attributes in errors. hint: the end of error messages.
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    types = [column_type(frame, item) for item in names]
    for item, kind in zip(names, types, strict=True):
        if value_type(frame, item) not in _DTYPES:
            raise FormatError(f"column {item!r} must hold numbers or arrays of numbers as {name}, got {kind}{hint}")
    has_arrays = any(kind.startswith("array<") for kind in types)
    if has_arrays and len(names) > 1:
        raise FormatError(
            f"{name} must be one column of arrays or several of numbers, got {', '.join(map(repr, names))}{hint}"
        )
    return AttributeColumns(name, names, -1 if has_arrays else 0) if names else None
