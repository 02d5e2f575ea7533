"""Totals over the blocks of a table are those of the whole table, and a bad row is named."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from lsprune.spark import totals as module
from lsprune.spark.columns import AttributeColumns
from lsprune.spark.totals import AttributeTotals, gather_batches

VALUES = AttributeColumns("x", ("a", "b"), 0)


def add_columns(block: np.ndarray, totals: np.ndarray) -> int:
    bad = ~np.isfinite(block).all(axis=1)
    if bad.any():
        return int(np.argmax(bad))
    totals += np.rint(block.sum(0)).astype(np.int64)
    return -1


def batches(rows: np.ndarray, size: int):
    table = pa.table({"id": np.arange(len(rows)) * 10, "a": rows[:, 0], "b": rows[:, 1]})
    return iter(table.to_batches(max_chunksize=size))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_small_batches_are_put_together(size):
    rows = np.arange(40.0).reshape(20, 2)
    found = [table.num_rows for table in gather_batches(batches(rows, size), 6)]
    assert sum(found) == 20
    assert all(rows >= 6 for rows in found[:-1])
    assert list(gather_batches(iter([]), 6)) == []


@pytest.mark.parametrize("maximum", [False, True])
def test_totals_add_up_or_are_the_largest(maximum, monkeypatch):
    monkeypatch.setattr(module, "_TOTALS_ROWS", 4)
    rows = np.random.default_rng(0).integers(0, 9, (50, 2)).astype(float)
    task = AttributeTotals(VALUES, ("id",), 2, add_columns, maximum=maximum)
    (found,) = task.run(batches(rows, 3))
    totals = np.frombuffer(found.column("totals")[0].as_py(), np.int64)
    blocks = [block.sum(0) for block in (rows[lo : lo + 6] for lo in range(0, 50, 6))]  # two batches of three
    np.testing.assert_array_equal(totals, np.max(blocks, axis=0) if maximum else rows.sum(0))
    assert found.column("error")[0].as_py() is None


def test_a_row_that_is_not_finite_is_named_by_its_ids():
    rows = np.ones((30, 2))
    rows[17, 1] = np.inf
    (found,) = AttributeTotals(VALUES, ("id",), 2, add_columns).run(batches(rows, 8))
    assert found.column("error")[0].as_py() == "x must be finite in float32, got inf at id 170"


def test_the_largest_bits_are_those_of_the_largest_entry():
    totals = np.zeros(1, np.int64)
    assert module._add_largest(np.array([[1.0, -6.0], [0.5, 3.0]], np.float32), totals) == -1
    assert (totals[0] >> 23) - 127 == 2
    assert module._add_largest(np.array([[1.0, 0.0], [np.nan, 3.0]], np.float32), totals) == 1
