from __future__ import annotations

import json

import pytest
from report_page import expand
from report_records import results

from lsprune.lab.reporting.comparison import read_studies
from lsprune.lab.reporting.html.compact import compact
from lsprune.lab.reporting.html.data import page_data


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
