"""Columns of tables of any library as Arrow arrays, and tables cut by a mask."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from lsprune.adapters.base import libraries
from lsprune.errors import FormatError, GraphError
from lsprune.files.arrow_columns import date_unit, first_line, whole_dates
from lsprune.graph import Array

LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb")


@dataclass(frozen=True, eq=False)
class Table:
    """A table in memory, read once: a lazy one is computed here.

    Args:
        library: the one it is from. kind: the name of its class.
        rows: what holds the rows: a pandas or Polars frame, or an Arrow table.
    """

    library: str
    kind: str
    rows: Any

    @classmethod
    def of(cls, data: Any) -> Table:
        """Read a table; raise GraphError if two columns have one name, FormatError if a dataset cannot be read."""
        library, kind = library_of(data), type(data).__name__
        rows = data
        if library == "polars" and kind == "LazyFrame":
            rows = data.collect()
        elif library == "duckdb":
            rows = import_module("pyarrow").table(data) if hasattr(data, "__arrow_c_stream__") else data.arrow()
        elif library == "pyarrow" and hasattr(data, "to_table"):
            rows = _rows_of_dataset(data)
        elif library == "pyarrow" and kind == "RecordBatch":
            rows = import_module("pyarrow").Table.from_batches([data])
        table = cls(library, kind, rows)
        repeated = [name for number, name in enumerate(table.names) if name in table.names[:number]]
        if repeated:
            raise GraphError(f"the table has two columns named {repeated[0]!r}; rename one of them")
        return table

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self.rows.column_names if self.library in ("pyarrow", "duckdb") else self.rows.columns)

    def __len__(self) -> int:
        return int(self.rows.num_rows if self.library in ("pyarrow", "duckdb") else self.rows.shape[0])

    def column(self, name: Any) -> Any:
        """Return a column as an Arrow chunked array; as a numpy array of objects if Arrow cannot hold it."""
        if name not in self.names:
            raise GraphError(f"the table has no column {name!r}; it has {', '.join(map(repr, self.names[:12]))}")
        pa: Any = import_module("pyarrow")
        if self.library == "pandas":
            try:
                values = pa.array(self.rows[name], from_pandas=True)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                return self.rows[name].to_numpy(object)
            if pa.types.is_nested(values.type) and isinstance(self.rows[name].iloc[0], tuple):
                return self.rows[name].to_numpy(object)  # tuples may be ids; Arrow would make lists of them
        else:
            values = self.rows[name].to_arrow() if self.library == "polars" else self.rows.column(name)
        return decoded(values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values]))

    def filtered(self, mask: Array) -> Any:
        """Return a table of the kind that was read with the rows of the mask."""
        if self.library == "pandas":
            return self.rows[mask]
        if self.library == "polars":
            frame = self.rows.filter(import_module("polars").Series(mask))
            return frame.lazy() if self.kind == "LazyFrame" else frame
        smaller = self.rows.filter(import_module("pyarrow").array(mask))
        if self.library == "duckdb":
            return import_module("duckdb").from_arrow(smaller)
        if self.kind == "RecordBatch":
            return smaller.combine_chunks().to_batches()[0] if len(smaller) else self.rows.to_batches()[0].slice(0, 0)
        return smaller if self.kind == "Table" else import_module("pyarrow.dataset").dataset(smaller)


def _rows_of_dataset(data: Any) -> Any:
    """Return the rows of a dataset as an Arrow table; FormatError if a file does not have the types of its schema."""
    pa: Any = import_module("pyarrow")
    try:
        return data.to_table()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise FormatError(
            f"the dataset cannot be read ({first_line(error)}). It has the types of its first file. If others have "
            "others, for example because the first has no rows, name them: pyarrow.dataset.dataset(path, schema=...)"
        ) from None


def library_of(data: Any) -> str:
    """Return which library a table is from; empty if it is not a table."""
    found = [name for name in LIBRARIES if name in libraries(data)]
    is_table = found and any(hasattr(type(data), name) for name in ("columns", "column_names", "to_table"))
    return found[0] if is_table and type(data).__name__ not in ("Series", "Index") else ""


def decoded(column: Any) -> Any:
    """Return a column without a dictionary (categories are their values)."""
    pa: Any = import_module("pyarrow")
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def refuse_missing(column: Any, name: Any) -> None:
    """Raise GraphError if a value is missing."""
    if isinstance(column, np.ndarray):
        missing = [place for place, value in enumerate(column) if value is None or value != value]
    else:
        compute: Any = import_module("pyarrow.compute")
        missing = [compute.index(compute.is_null(column), True).as_py()] if column.null_count else []
    if missing:
        raise GraphError(f"column {name!r}, row {missing[0]}: a value is missing")


def numbers(column: Any, name: Any) -> Array:
    """Return a column as numbers, `[rows]`, or `[rows, d]` from lists of one length; dates as whole numbers."""
    refuse_missing(column, name)
    if isinstance(column, np.ndarray):
        raise GraphError(f"column {name!r} must be numbers, got Python objects")
    pa: Any = import_module("pyarrow")
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    elif pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _rows_of_lists(column, name)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise GraphError(f"column {name!r} must be numbers, got {kind}")
    return np.asarray(column.to_numpy())


def numbers_or_dates(column: Any, name: Any) -> Array:
    """Return one number or date of each row, exactly: dates in their own unit, those with a time zone in UTC."""
    if not isinstance(column, np.ndarray) and (unit := date_unit(column.type)):
        refuse_missing(column, name)
        return whole_dates(column, unit)
    values = numbers(column, name)
    if values.ndim != 1:
        raise GraphError(f"column {name!r} must hold one number in each row, got lists")
    return values


def _rows_of_lists(column: Any, name: Any) -> Array:
    rows = column.to_pylist()
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise GraphError(f"column {name!r} must hold lists of one length, got {sorted(lengths)[:3]}")
    return np.array(rows).reshape(len(rows), -1)


def describe_kind(column: Any) -> str:
    """Return the type of a column, for messages."""
    return "Python objects" if isinstance(column, np.ndarray) else str(column.type)
