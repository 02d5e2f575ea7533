"""Read the data of a report as the page's script does."""

from __future__ import annotations

import json
import re
from typing import Any

from lsprune.lab.reporting.html.compact import COLUMNS, DATA, FIELDS, ROWS, SHARED


def page_content(page: str) -> Any:
    """Return the data in a page."""
    found = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return expand(json.loads(found[1]))


def expand(packed: Any) -> Any:
    """Return data with tables as lists of objects again, and what is shared wherever it occurs."""
    fields, shared = packed[FIELDS], packed[SHARED]

    def resolved(value: Any) -> Any:
        return shared[value[SHARED]] if isinstance(value, dict) and set(value) == {SHARED} else value

    def part(reference: Any) -> Any:
        value = resolved(reference)
        if isinstance(value, list):
            return [part(one) for one in value]
        if isinstance(value, dict) and set(value) == {COLUMNS, ROWS}:
            names, rows = fields[value[COLUMNS]], map(resolved, resolved(value[ROWS]))
            return [dict(zip(names, map(part, row), strict=True)) for row in rows]
        return {name: part(one) for name, one in value.items()} if isinstance(value, dict) else value

    return part(packed[DATA])
