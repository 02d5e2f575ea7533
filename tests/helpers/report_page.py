"""Read the data of a report as the page's script does."""

from __future__ import annotations

import json
import re
from typing import Any

from lsprune.lab.reporting.html.compact import COLUMNS, ROWS


def page_content(page: str) -> Any:
    """Return the data in a page."""
    found = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return expand(json.loads(found[1]))


def expand(value: Any) -> Any:
    """Return data with tables as lists of objects again."""
    if isinstance(value, list):
        return [expand(one) for one in value]
    if isinstance(value, dict) and set(value) == {COLUMNS, ROWS}:
        return [dict(zip(value[COLUMNS], map(expand, row), strict=True)) for row in value[ROWS]]
    return {name: expand(one) for name, one in value.items()} if isinstance(value, dict) else value
