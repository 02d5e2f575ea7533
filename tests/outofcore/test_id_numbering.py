"""Numbers of ids in the order in which they are added."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.outofcore import id_numbering
from lsprune.outofcore.id_numbering import IntegerNumbering, StringNumbering

KINDS = {"text": lambda: StringNumbering(pa.string()), "whole": IntegerNumbering}


def spelled(kind: str, values: list[int]) -> pa.Array:
    return pa.array([f"node {value}" for value in values] if kind == "text" else values, KINDS[kind]().kind)


@pytest.mark.parametrize("kind", KINDS)
@given(batches=st.lists(st.lists(st.integers(-9, 30), unique=True, max_size=12), max_size=9))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_an_id_gets_the_next_number_when_it_is_new(kind, batches):
    numbering, expected = KINDS[kind](), {}
    for values in batches:
        ids = spelled(kind, values)
        numbering.add(ids)
        for text in ids.to_pylist():
            expected.setdefault(text, len(expected))
    assert len(numbering) == len(expected)
    listed = [text for chunk in numbering.chunks() for text in chunk.to_pylist()]
    assert listed == list(expected)
    for values in batches:
        ids = spelled(kind, values)
        assert numbering.find(ids).tolist() == [expected[text] for text in ids.to_pylist()]
    assert numbering.find(spelled(kind, [99])) is None
    assert numbering.find(spelled(kind, [])).size == 0


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_listed_in_chunks_and_found_by_number(kind, monkeypatch):
    monkeypatch.setattr(id_numbering, "_CHUNK_ROWS", 4)
    numbering = KINDS[kind]()
    numbering.add(spelled(kind, [7, 3, 9, 1, 8, 2]))
    assert [len(chunk) for chunk in numbering.chunks()] == [4, 2]
    assert [numbering.value(number) for number in (0, 3, 4, 5)] == spelled(kind, [7, 1, 8, 2]).to_pylist()
    with pytest.raises(IndexError):
        numbering.value(6)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_grows_with_the_ids(kind):
    numbering = KINDS[kind]()
    empty = numbering.memory()
    numbering.add(spelled(kind, list(range(1000))))
    thousand = numbering.memory()
    numbering.add(spelled(kind, list(range(1000))))  # nothing new
    assert empty < thousand == numbering.memory()
    assert thousand >= 1000 * 16


def test_runs_of_integers_stay_few():
    numbering, random = IntegerNumbering(), np.random.default_rng(0)
    seen: dict[int, int] = {}
    for _ in range(200):
        values = np.unique(random.integers(0, 3000, 40))
        random.shuffle(values)
        for value in values.tolist():
            seen.setdefault(value, len(seen))
        numbering.add(pa.array(values))
    assert numbering.find(pa.array(list(seen))).tolist() == list(seen.values())
    assert numbering.find(pa.array([5000])) is None
    assert len(numbering._runs) <= 12
    assert pa.concat_arrays(numbering.chunks()).to_pylist() == list(seen)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=30))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_columns_are_numbered_row_by_row(kind, rows):
    numbering, expected = KINDS[kind](), {}
    for pair in rows:
        for value in pair:
            expected.setdefault(value, len(expected))
    ends = [[pair[end] for pair in rows] for end in (0, 1)]
    numbers = numbering.number(*(spelled(kind, end) for end in ends))
    assert [end.tolist() for end in numbers] == [[expected[value] for value in end] for end in ends]


def test_strings_stay_numbered_while_the_table_grows():
    numbering = StringNumbering(pa.string())
    for lo in range(0, 5000, 37):
        numbering.add(spelled("text", list(range(lo, lo + 50))))
    assert len(numbering) == range(0, 5000, 37)[-1] + 50
    listed = pa.concat_arrays(numbering.chunks())
    assert numbering.find(listed).tolist() == list(range(len(numbering)))
    part = listed[1000:1010]  # an array that begins within its buffers
    assert numbering.find(part).tolist() == list(range(1000, 1010))
