"""Messages are added up over batches of any size, and nodes without edges keep what is their own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa

from lsprune.spark import row_comparison
from lsprune.spark.edge_ends import OWNER_ID
from lsprune.spark.packed_rows import pack_rows, unpack_rows
from lsprune.spark.row_comparison import COUNT, KNOWN, MESSAGE, SUMS, _Sum, _Update
from lsprune.spark.tasks import ID_COLUMN


@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_sums_do_not_depend_on_batches(monkeypatch, rows):
    monkeypatch.setattr(row_comparison, "MESSAGE_ROWS", rows)
    rng = np.random.default_rng(0)
    owner, messages = np.sort(rng.integers(0, 9, 40)), rng.integers(-127, 128, (40, 3)).astype(np.int8)
    messages[:] = 127  # sums leave 8 bits
    table = pa.table({OWNER_ID: owner, MESSAGE: pack_rows(messages)})
    found = pa.Table.from_batches(list(_Sum(np.int8).run(iter(table.to_batches(max_chunksize=rows)))))
    owners = np.unique(owner)
    np.testing.assert_array_equal(found.column(OWNER_ID).to_numpy(), owners)
    np.testing.assert_array_equal(found.column(COUNT).to_numpy(), np.bincount(owner)[owners])
    expected = np.array([messages[owner == u].sum(axis=0, dtype=np.int64) for u in owners])
    np.testing.assert_array_equal(unpack_rows(found.column(SUMS), np.int64), expected)


class Recorder:
    """A comparison that returns what it is given."""

    def message(self, known):
        return known[:, :1].astype(np.int8)

    def update(self, known, sums, neighbours, runtime):
        return np.concatenate([sums, neighbours[:, None]], axis=1)


def test_a_node_without_edges_has_its_own_message_only():
    known, sums = np.array([[5, 1], [6, 1], [7, 1]]), np.array([[10], [30]])
    packed = pack_rows(sums).to_pylist()
    columns = {ID_COLUMN: np.arange(3), KNOWN: pack_rows(known), COUNT: pa.array([2, None, 3], pa.int64())}
    table = pa.table({**columns, SUMS: pa.array([packed[0], None, packed[1]], pa.binary())})
    (batch,) = _Update(Recorder()).run(iter(table.to_batches()))
    found = unpack_rows(pa.chunked_array([batch.column(KNOWN)]), np.int64)
    assert found.tolist() == [[15, 2], [6, 0], [37, 3]]
