"""Write data for the page without repeating the names of fields: a list of alike objects becomes a table."""

from __future__ import annotations

from typing import Any

FIELDS, DATA = "fields", "data"
COLUMNS, ROWS = "columns", "rows"  # `expand` in data.js turns them back

Fields = dict[tuple[str, ...], int]


def compact(value: Any) -> dict[str, Any]:
    """Return the data with every list of two or more objects of the same fields as rows, and all lists of fields.

    >>> compact([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'fields': [['x', 'y']], 'data': {'columns': 0, 'rows': [[1, 2], [3, 4]]}}
    """
    fields: Fields = {}
    data = _compact(value, fields)
    return {FIELDS: [list(names) for names in fields], DATA: data}


def _compact(value: Any, fields: Fields) -> Any:
    if isinstance(value, dict):
        return {name: _compact(part, fields) for name, part in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) > 1 and _alike(value):
        columns = tuple(value[0])
        place = fields.setdefault(columns, len(fields))
        return {COLUMNS: place, ROWS: [[_compact(part[name], fields) for name in columns] for part in value]}
    return [_compact(part, fields) for part in value]


def _alike(values: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(part, dict) and part.keys() == values[0].keys() for part in values)
