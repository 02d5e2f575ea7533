"""Read the data of a report as the page's script does."""

from __future__ import annotations

import json
import re
from typing import Any

from lsprune.lab.reporting.html.compact import COLUMNS, DATA, FIELDS, ROWS


def page_content(page: str) -> Any:
    """Return the data in a page."""
    found = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return expand(json.loads(found[1]))


def expand(packed: Any) -> Any:
    """Return data with tables as lists of objects again."""
    fields = packed[FIELDS]

    def part(value: Any) -> Any:
        if isinstance(value, list):
            return [part(one) for one in value]
        if isinstance(value, dict) and set(value) == {COLUMNS, ROWS}:
            return [dict(zip(fields[value[COLUMNS]], map(part, row), strict=True)) for row in value[ROWS]]
        return {name: part(one) for name, one in value.items()} if isinstance(value, dict) else value

    return part(packed[DATA])
