"""The tables of a graph in Spark: which columns hold what, what they must be like, and Arrow batches as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lsprune.errors import FormatError, GraphError
from lsprune.files.columns import stack
from lsprune.files.node_table import ID_NAMES, NodeColumns, id_column, node_columns
from lsprune.graph import Array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

TABLE = "the table of nodes"
WHOLE = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*WHOLE, "float", "double", "boolean")


@dataclass(frozen=True)
class Values:
    """The columns with the attributes of nodes or edges: one column of arrays, or single numbers."""

    name: str  # as errors call them
    columns: tuple[str, ...]
    dim: int  # entries of an array; 0: the columns are single numbers

    def read(self, table: pa.Table) -> Array:
        """The attributes `[n]` or `[n, d]` of the rows of a table."""
        if not self.dim:
            found = stack([numbers(table.column(name)) for name in self.columns])
            assert found is not None
            return found
        chunks = table.column(self.columns[0]).chunks
        parts = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in chunks]
        return np.concatenate(parts or [np.empty(0, np.float32)]).reshape(-1, self.dim)

    def empty(self, frame: DataFrame) -> Array:
        """No rows, of the type and shape that `read` gives for this frame."""
        kinds = [kind_of(frame, name).removeprefix("array<").removesuffix(">") for name in self.columns]
        dtype = np.result_type(*(_DTYPES[kind] for kind in kinds))
        wide = self.dim or (len(self.columns) if len(self.columns) > 1 else 0)
        return np.empty((0, wide) if wide else 0, dtype)


_DTYPES = {
    "tinyint": np.int8, "smallint": np.int16, "int": np.int32, "bigint": np.int64, "float": np.float32,
    "double": np.float64, "boolean": np.bool_,
}  # fmt: skip


def numbers(column: pa.ChunkedArray) -> Array:
    """A column of numbers without nulls as an array."""
    found: Array = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return found


def kind_of(frame: DataFrame, name: str) -> str:
    """The type of a column as Spark spells it; FormatError if there is none or more than one of that name."""
    found = [field.dataType.simpleString() for field in frame.schema.fields if field.name == name]
    if len(found) != 1:
        has = ", ".join(map(repr, frame.columns[:12]))
        raise FormatError(f"there must be one column {name!r}, got {len(found)}; the table has {has}")
    return found[0]


def column(name: str) -> Column:
    """The column of that very name, dots and all."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def check_ids(frame: DataFrame, name: str) -> None:
    """FormatError unless the column holds whole numbers."""
    kind = kind_of(frame, name)
    if kind not in WHOLE:
        raise FormatError(
            f"column {name!r} must hold whole numbers as ids, got {kind}; number the nodes first, for instance by a "
            f"table (name, id) that both tables are joined with"
        )


def columns_of(frame: DataFrame, id: str | None, features: str | Sequence[str] | None) -> NodeColumns:
    """What is what in a table of nodes, by the rule that holds for files too; FormatError without a column of ids."""
    asked = (features,) if isinstance(features, str) else tuple(features or ())
    for name in (*((id,) if id else ()), *asked):
        kind_of(frame, name)
    arrays = {field.name: field.dataType.simpleString().startswith("array<") for field in frame.schema.fields}
    named = id_column(arrays, id, asked, TABLE)
    if named is None:
        kind_of(frame, ID_NAMES[0])  # raises: rows of a table in Spark have no order
    if features is not None and not asked:
        return NodeColumns(named, ())
    return node_columns(arrays, named, asked, TABLE)


def values_of(frame: DataFrame, name: str, columns: str | Sequence[str], hint: str = "") -> Values | None:
    """Where the attributes are, still without the length of arrays; None for no columns. `hint` ends messages."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    kinds = [kind_of(frame, one) for one in names]
    arrays = [kind for kind in kinds if kind.startswith("array<")]
    for one, kind in zip(names, kinds, strict=True):
        if kind.removeprefix("array<").removesuffix(">") not in NUMBERS:
            raise FormatError(f"column {one!r} must hold numbers or arrays of numbers as {name}, got {kind}{hint}")
    if arrays and len(names) > 1:
        raise FormatError(
            f"{name} must be one column of arrays or several of numbers, got {', '.join(map(repr, names))}{hint}"
        )
    return Values(name, names, -1 if arrays else 0) if names else None


@dataclass(frozen=True)
class Facts:
    """What one pass over a table says of it."""

    count: int
    least: int  # of all ids; 0 without rows
    most: int  # -1 without rows
    values: Values | None
    range: tuple[int, int] | None  # least and largest attribute, where they are one column of whole numbers
    each: tuple[int, ...] = ()  # the largest id of each column of ids; -1 without rows


def look(frame: DataFrame, ids: Sequence[str], values: Values | None) -> Facts:
    """Facts of a table, in one job; GraphError for a null, a negative id or arrays of different lengths."""
    from pyspark.sql import functions as F

    every = {"count": F.count(F.lit(1))}
    for i, name in enumerate(ids):
        one = column(name)
        every |= {f"null{i}": F.count_if(one.isNull()), f"least{i}": F.min(one), f"most{i}": F.max(one)}
    whole = values is not None and _whole(frame, values)
    if values is not None:
        for i, name in enumerate(values.columns):
            every |= _of_values(column(name), i, values.dim != 0, whole)
    said: Any = frame.agg(*(expression.alias(name) for name, expression in every.items())).first()
    _check_nulls(said, ids, values)
    least = min((said[f"least{i}"] for i in range(len(ids)) if said["count"]), default=0)
    if least < 0:
        raise GraphError(f"ids must be >= 0, got {least} in {_named(ids)}")
    each = tuple(said[f"most{i}"] if said["count"] else -1 for i in range(len(ids)))
    spread = (said["small"], said["large"]) if whole and said["count"] else (0, -1) if whole else None
    return Facts(said["count"], least, max(each, default=-1), _measured(said, values), spread, each)


def _whole(frame: DataFrame, values: Values) -> bool:
    """Whether the attributes are one whole number a row: a category, unless it is an array of several."""
    kind = kind_of(frame, values.columns[0])
    return len(values.columns) == 1 and kind.removeprefix("array<").removesuffix(">") in WHOLE


def _of_values(one: Column, i: int, arrays: bool, whole: bool) -> dict[str, Column]:
    from pyspark.sql import functions as F

    missing = one.isNull() | F.exists(one, lambda entry: entry.isNull()) if arrays else one.isNull()
    every = {f"gap{i}": F.count_if(missing)}
    if arrays:
        every |= {"short": F.min(F.size(one)), "long": F.max(F.size(one))}
    if whole:
        entry = F.get(one, F.lit(0)) if arrays else one
        every |= {"small": F.min(entry), "large": F.max(entry)}
    return every


def _check_nulls(said: Row, ids: Sequence[str], values: Values | None) -> None:
    counts = [(name, said[f"null{i}"], "ids") for i, name in enumerate(ids)]
    if values is not None:
        counts += [(name, said[f"gap{i}"], values.name) for i, name in enumerate(values.columns)]
    for name, count, what in counts:
        if count:
            raise GraphError(f"column {name!r} must have {what} in every row, got {count} without")


def _measured(said: Row, values: Values | None) -> Values | None:
    """The attributes with the length of their arrays."""
    if values is None or values.dim == 0:
        return values
    short, long = said["short"], said["long"]
    if short != long:
        raise GraphError(f"{values.name} must have arrays of one length, got {short} and {long}")
    if short == 0:
        raise GraphError(f"{values.name} must have at least one column, got none")
    return Values(values.name, values.columns, short or 1)


def _named(ids: Sequence[str]) -> str:
    return " or ".join(f"column {name!r}" for name in ids)
