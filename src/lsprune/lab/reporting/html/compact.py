"""Write data for the page without repetition: lists of alike objects become tables, equal parts are written once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

FIELDS, SHARED, DATA = "fields", "same", "data"
COLUMNS, ROWS = "columns", "rows"  # `expand` in data.js turns them back
MIN_SHARED_LENGTH = 24  # characters of a part that is written once; a reference takes about 13

Fields = dict[tuple[str, ...], int]


def compact(value: Any) -> dict[str, Any]:
    """Return the data with tables, and references to parts that occur more than once; lists of fields; these parts.

    A list of two or more objects of the same fields is a table. A reference is `{"same": place}`.

    >>> compact([{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'fields': [['x', 'y']], 'same': [], 'data': {'columns': 0, 'rows': [[1, 2], [3, 4]]}}
    """
    fields: Fields = {}
    tables = _tables(value, fields)
    counts: Counter[str] = Counter()
    _count(tables, counts)
    shared = _Shared({text for text, count in counts.items() if count > 1})
    data = shared.replace(tables)
    return {FIELDS: [list(names) for names in fields], SHARED: shared.parts, DATA: data}


def _tables(value: Any, fields: Fields) -> Any:
    if isinstance(value, dict):
        return {name: _tables(part, fields) for name, part in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if len(value) > 1 and _alike(value):
        columns = tuple(value[0])
        place = fields.setdefault(columns, len(fields))
        return {COLUMNS: place, ROWS: [[_tables(part[name], fields) for name in columns] for part in value]}
    return [_tables(part, fields) for part in value]


def _alike(values: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(part, dict) and part.keys() == values[0].keys() for part in values)


def _text(value: Any) -> str | None:
    """Return what tells whether two parts are equal; None for one that is too short to be shared."""
    if not isinstance(value, dict | list | str):
        return None
    text = json.dumps(value, separators=(",", ":"))
    return text if len(text) >= MIN_SHARED_LENGTH else None


def _count(value: Any, counts: Counter[str]) -> None:
    """Count how often each part occurs; those within a part that occurred before are not counted again."""
    text = _text(value)
    if text is not None:
        counts[text] += 1
        if counts[text] > 1:
            return
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _count(part, counts)


class _Shared:
    """Parts that are written once, in the order in which they occur."""

    def __init__(self, texts: set[str]) -> None:
        self.texts, self.places, self.parts = texts, dict[str, int](), list[Any]()

    def replace(self, value: Any) -> Any:
        """Return the value with references to shared parts."""
        text = _text(value)
        if text is None or text not in self.texts:
            return self._replace_parts(value)
        if text not in self.places:
            part = self._replace_parts(value)
            self.places[text] = len(self.parts)
            self.parts.append(part)
        return {SHARED: self.places[text]}

    def _replace_parts(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.replace(part) for name, part in value.items()}
        return [self.replace(part) for part in value] if isinstance(value, list) else value
