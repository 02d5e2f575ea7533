"""Check a table of nodes or edges in one job: no nulls, ids >= 0, arrays of one length; and count its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.spark.columns import (
    INTEGER_TYPES,
    AttributeColumns,
    attribute_columns,
    check_id_column,
    column,
    value_type,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row


@dataclass(frozen=True)
class TableFacts:
    """What one pass over a table tells."""

    count: int  # rows
    smallest_id: int  # 0 without rows
    largest_id: int  # -1 without rows
    attributes: AttributeColumns | None
    integer_range: tuple[int, int] | None  # of the attribute, if it is a single column of whole numbers: a category
    largest_ids: tuple[int, ...] = ()  # of each column of ids; -1 without rows


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """A table of nodes or edges that was checked."""

    frame: DataFrame
    facts: TableFacts
    id_columns: tuple[str, ...]  # one column for nodes; for edges those of the source and of the target

    @classmethod
    def of(
        cls, frame: DataFrame, id_columns: tuple[str, ...], name: str, columns: str | Sequence[str], hint: str = ""
    ) -> CheckedTable:
        """Check a table; raise FormatError or GraphError if it is wrong.

        Args:
            name: of the attributes in errors. columns: that hold attributes. hint: the end of error messages.
        """
        for id_column in id_columns:
            check_id_column(frame, id_column)
        return cls(frame, table_facts(frame, id_columns, attribute_columns(frame, name, columns, hint)), id_columns)

    @property
    def width(self) -> int:
        """Number of values in an attribute row; 0 without attributes."""
        return 0 if self.facts.attributes is None else self.facts.attributes.width

    def empty(self) -> Array | None:
        """Return the attributes as an array without rows, of the right type and shape."""
        return None if self.facts.attributes is None else self.facts.attributes.empty(self.frame)


NodeTables = tuple[CheckedTable | None, CheckedTable | None]  # of sources and targets; the same if they are one kind


def table_facts(frame: DataFrame, id_columns: Sequence[str], attributes: AttributeColumns | None) -> TableFacts:
    """Return facts of a table, in one job; raise GraphError for a null, a negative id or arrays of several lengths."""
    from pyspark.sql import functions as F

    aggregates = {"count": F.count(F.lit(1))}
    for i, name in enumerate(id_columns):
        ids = column(name)
        aggregates |= {f"null_ids{i}": F.count_if(ids.isNull()), f"min_id{i}": F.min(ids), f"max_id{i}": F.max(ids)}
    is_integer = attributes is not None and _is_integer(frame, attributes)
    if attributes is not None:
        for i, name in enumerate(attributes.columns):
            aggregates |= _attribute_aggregates(column(name), i, attributes.array_length != 0, is_integer)
    row: Any = frame.agg(*(expression.alias(name) for name, expression in aggregates.items())).first()
    _check_nulls(row, id_columns, attributes)
    count = row["count"]
    smallest = min((row[f"min_id{i}"] for i in range(len(id_columns)) if count), default=0)
    if smallest < 0:
        names = " or ".join(f"column {name!r}" for name in id_columns)
        raise GraphError(f"ids must be >= 0, got {smallest} in {names}")
    largest = tuple(row[f"max_id{i}"] if count else -1 for i in range(len(id_columns)))
    integer_range = (row["min_value"], row["max_value"]) if is_integer and count else (0, -1) if is_integer else None
    measured = _with_array_length(row, attributes)
    return TableFacts(count, smallest, max(largest, default=-1), measured, integer_range, largest)


def _is_integer(frame: DataFrame, attributes: AttributeColumns) -> bool:
    """Return whether the attributes are one column of whole numbers, or of arrays of them."""
    return len(attributes.columns) == 1 and value_type(frame, attributes.columns[0]) in INTEGER_TYPES


def _attribute_aggregates(values: Column, i: int, are_arrays: bool, is_integer: bool) -> dict[str, Column]:
    """Return what to compute of the i-th column of attributes."""
    from pyspark.sql import functions as F

    is_null = values.isNull() | F.exists(values, lambda entry: entry.isNull()) if are_arrays else values.isNull()
    aggregates = {f"null_values{i}": F.count_if(is_null)}
    if are_arrays:
        aggregates |= {"min_length": F.min(F.size(values)), "max_length": F.max(F.size(values))}
    if is_integer:
        entry = F.get(values, F.lit(0)) if are_arrays else values
        aggregates |= {"min_value": F.min(entry), "max_value": F.max(entry)}
    return aggregates


def _check_nulls(row: Row, id_columns: Sequence[str], attributes: AttributeColumns | None) -> None:
    counts = [(name, row[f"null_ids{i}"], "ids") for i, name in enumerate(id_columns)]
    if attributes is not None:
        counts += [(name, row[f"null_values{i}"], attributes.name) for i, name in enumerate(attributes.columns)]
    for name, count, content in counts:
        if count:
            raise GraphError(f"column {name!r} must have {content} in every row, got {count} without")


def _with_array_length(row: Row, attributes: AttributeColumns | None) -> AttributeColumns | None:
    if attributes is None or attributes.array_length == 0:
        return attributes
    shortest, longest = row["min_length"], row["max_length"]
    if shortest != longest:
        raise GraphError(f"{attributes.name} must have arrays of one length, got {shortest} and {longest}")
    if shortest == 0:
        raise GraphError(f"{attributes.name} must have at least one column, got none")
    return replace(attributes, array_length=shortest or 1)
