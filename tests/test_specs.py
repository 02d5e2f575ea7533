from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsprune.errors import OptionError
from lsprune.specs import parse_setting, parse_spec, parse_value

words = st.text("abcdefgh", min_size=1, max_size=6).filter(lambda word: word not in ("name",))
values = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
tables = st.dictionaries(words, values, max_size=3)


def written(name: str, options: dict) -> str:
    parts = (f"{key}=({written('inner', value)})" if isinstance(value, dict) else f"{key}={value}".lower()
             for key, value in options.items())  # fmt: skip
    return f"{name}:{','.join(parts)}" if options else name


@given(name=words, options=st.dictionaries(words, values | tables, max_size=4))
def test_what_is_written_is_read(name, options):
    expected = {key: {"name": "inner", **value} if isinstance(value, dict) else value for key, value in options.items()}
    assert parse_spec(written(name, options)) == {"name": name, **expected}


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), ("0.4", 0.4), ("1e-3", 0.001), ("True", True), ("none", None), ("edge", "edge"),
     ("edge,neighbour", ["edge", "neighbour"]), ("1, 2", [1, 2]), ("(signs:bits=2)", {"name": "signs", "bits": 2})],
)  # fmt: skip
def test_values(text, value):
    assert parse_value(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [("signs:", "must have options after the colon"), ("signs:bits", "NAME=VALUE"), ("signs:bits=1,bits=2", "twice"),
     ("both:edge=(signs", "brackets must match"), ("both:edge=signs)", "brackets must match")],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text, message):
    with pytest.raises(OptionError, match=message):
        parse_spec(text)


def test_settings_need_a_name():
    with pytest.raises(OptionError, match="NAME=VALUE, got '=3'"):
        parse_setting("=3")
