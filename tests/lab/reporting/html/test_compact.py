from __future__ import annotations

import json

import pytest
from report_records import results

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.html.compact import COLUMNS, ROWS, compact
from lsprune.lab.reporting.html.data import page_data


def expand(value):
    """What the page's script does."""
    if isinstance(value, list):
        return [expand(one) for one in value]
    if isinstance(value, dict) and set(value) == {COLUMNS, ROWS}:
        return [dict(zip(value[COLUMNS], map(expand, row), strict=True)) for row in value[ROWS]]
    return {name: expand(one) for name, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "value",
    [
        1, None, "columns", [], {}, [1, [2, None]], [{"a": 1}], [{"a": 1}, {"b": 2}], [{"a": 1}, 2], [{}, {}],
        [{"a": [{"b": 1}, {"b": None}]}, {"a": []}],
    ],
)  # fmt: skip
def test_data_come_back(value):
    assert expand(compact(value)) == value


@pytest.mark.usefixtures("few_resamples")
def test_the_page_comes_back_and_is_smaller(tmp_path):
    data = page_data(read_studies([results(tmp_path)]))
    text = json.dumps(compact(data))
    assert expand(json.loads(text)) == json.loads(json.dumps(data))
    assert len(text) < 0.9 * len(json.dumps(data))
