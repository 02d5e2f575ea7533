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
        ["a text that is long enough to be shared"] * 3, [["a text that is long enough to be shared", 1]] * 2,
        [{"long": ["numbers", 1.5, 2.5, 3.5, 4.5, 5.5]}, "x", {"long": ["numbers", 1.5, 2.5, 3.5, 4.5, 5.5]}],
    ],
)  # fmt: skip
def test_data_come_back(value):
    assert expand(compact(value)) == value


def test_equal_parts_are_written_once():
    rows = [[0.1 * number for number in range(9)], "some other text that is long enough"]
    packed = compact([rows, 1, rows, rows[1]])
    assert json.dumps(packed).count("some other text") == 1
    assert packed["data"][0] == packed["data"][2] == {"same": 1}
    assert len(packed["same"]) == 2


@pytest.mark.usefixtures("few_resamples")
def test_the_page_comes_back_and_is_smaller(tmp_path):
    data = page_data(read_studies([results(tmp_path)]))
    text = json.dumps(compact(data))
    assert expand(json.loads(text)) == json.loads(json.dumps(data))
    assert len(text) < 0.9 * len(json.dumps(data))
