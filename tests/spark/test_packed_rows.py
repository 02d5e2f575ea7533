"""Rows travel as byte strings and come back as they were."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from lsprune.spark import packed_rows
from lsprune.spark.columns import AttributeColumns
from lsprune.spark.packed_rows import PackedAttributes, pack_lists, pack_rows, unpack_keys, unpack_lists, unpack_rows


def test_keys_of_different_widths_go_together():
    narrow, wide = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6).reshape(2, 3) + (1 << 40)
    column = pa.chunked_array([pack_rows(narrow), pack_rows(wide), pack_rows(narrow)])
    np.testing.assert_array_equal(unpack_keys(column, 3), np.concatenate([narrow, wide, narrow]))
    np.testing.assert_array_equal(unpack_keys(column.slice(1, 2), 3), np.concatenate([narrow[1:], wide[:1]]))
    np.testing.assert_array_equal(unpack_keys(column.slice(2, 2), 3), wide)


@pytest.mark.parametrize("category", [False, True])
@pytest.mark.parametrize("arrays", [False, True])
def test_rows_travel_as_bytes_and_come_back(category, arrays):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 99, (20, 1 if category else 3))
    rows = rows if category else rows.astype(np.float32)
    if arrays:
        columns, values = {"x": pa.array(rows.tolist())}, AttributeColumns("x", ("x",), rows.shape[1])
    else:
        columns = {f"c{i}": rows[:, i] for i in range(rows.shape[1])}
        values = AttributeColumns("x", tuple(columns), 0)
    rule = PackedAttributes(values, category)
    sent = pa.chunked_array([rule.pack(pa.table(columns))])
    np.testing.assert_array_equal(rule.unpack(sent), rows)
    np.testing.assert_array_equal(rule.unpack(sent.slice(5, 7)), rows[5:12])
    assert rule.unpack(sent).dtype == (np.int64 if category else np.float32)


def test_rows_that_are_null_are_left_out_and_lists_have_any_length():
    rows = np.arange(6).reshape(2, 3)
    first, second = pack_rows(rows).to_pylist()
    column = pa.chunked_array([pa.array([first, None], pa.binary()), pa.array([second], pa.binary())])
    np.testing.assert_array_equal(unpack_rows(column, np.int64), rows)
    assert unpack_rows(pa.chunked_array([pa.array([None], pa.binary())]), np.int64).shape[0] == 0
    lists = [np.arange(3), np.arange(0), np.array([2**62])]
    cut = pa.chunked_array(
        [pa.array([part.astype(np.int64).tobytes() for part in some]) for some in (lists, lists[:1])]
    )
    begins, numbers = unpack_lists(cut)
    assert begins.tolist() == [0, 3, 3, 4, 7] and numbers.tolist() == [0, 1, 2, 2**62, 0, 1, 2]
    assert pack_lists(begins[:4], numbers[:4]).equals(cut.chunk(0))
    begins, numbers = unpack_lists(cut.slice(2, 2))
    assert begins.tolist() == [0, 1, 4] and numbers.tolist() == [2**62, 0, 1, 2]


def test_rows_beyond_the_offsets_of_one_column_are_packed_one_by_one(monkeypatch):
    rows = np.random.default_rng(0).integers(0, 99, (10, 3)).astype(np.int32)
    expected = pack_rows(rows)
    monkeypatch.setattr(packed_rows, "_MAX_BINARY_BYTES", 8)
    assert pack_rows(rows).equals(expected)
    assert expected.to_pylist() == [row.tobytes() for row in rows]


def test_no_rows_are_packed_and_come_back():
    for chunks in ([], [pack_rows(np.empty((0, 3), np.int32))]):
        assert unpack_keys(pa.chunked_array(chunks, pa.binary()), 3).shape == (0, 3)
