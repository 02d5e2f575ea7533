"""Write data for the page without repeating the names of fields: a list of alike objects becomes a table."""

from __future__ import annotations

from typing import Any

COLUMNS, ROWS = "columns", "rows"  # `expand` in data.js turns them back


def compact(value: Any) -> Any:
    """Return the data with every list of two or more objects of the same fields as columns and rows.

    >>> compact([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'columns': ['x', 'y'], 'rows': [[1, 2], [3, 4]]}
    """
    if isinstance(value, dict):
        return {name: compact(one) for name, one in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) > 1 and _alike(value):
        columns = list(value[0])
        return {COLUMNS: columns, ROWS: [[compact(one[name]) for name in columns] for one in value]}
    return [compact(one) for one in value]


def _alike(values: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(one, dict) and one.keys() == values[0].keys() for one in values)
