"""What runs where the rows are: packed rows and keys, and selection from sorted batches."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from lsprune import LSP
from lsprune.hashing import Signs
from lsprune.kernels import runtime
from lsprune.outofcore.partial_selection import node_keys
from lsprune.spark.budget import Budget
from lsprune.spark.frames import Values
from lsprune.spark.tasks import DEGREE, ID, OF_NEIGHBOUR, Describe, Packed, Select, _keys, packed


def test_an_owner_in_many_batches_is_carried(graph):
    pruner = LSP(k=4, hash=Signs(bits=3), attributes=("edge",)).fit(graph)
    source, target = graph.ends()
    order = np.argsort(target, kind="stable")
    a, b = graph.edge_attr[order].T
    table = pa.table({"source": source[order], "target": target[order], "a": a, "b": b, "n": order})
    values = Values("edge_attr", ("a", "b"), 0)
    task = Select(pruner, Budget(4), "target", "source", ("n",), edge_attr=values, rows=1)
    found = pa.Table.from_batches(task.run(iter(table.to_batches(max_chunksize=7)))).column("n").to_numpy()
    np.testing.assert_array_equal(np.sort(found), np.flatnonzero(pruner.mask(graph)))


def test_keys_of_different_widths_go_together():
    narrow, wide = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6).reshape(2, 3) + (1 << 40)
    one = pa.table({OF_NEIGHBOUR: pa.chunked_array([packed(narrow), packed(wide), packed(narrow)])})
    np.testing.assert_array_equal(_keys(one.column(0), 3), np.concatenate([narrow, wide, narrow]))
    np.testing.assert_array_equal(_keys(one.column(0).slice(1, 2), 3), np.concatenate([narrow[1:], wide[:1]]))
    np.testing.assert_array_equal(_keys(one.column(0).slice(2, 2), 3), wide)


@pytest.mark.parametrize("category", [False, True])
@pytest.mark.parametrize("arrays", [False, True])
def test_rows_travel_as_bytes_and_come_back(category, arrays):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 99, (20, 1 if category else 3))
    rows = rows if category else rows.astype(np.float32)
    if arrays:
        columns, values = {"x": pa.array(rows.tolist())}, Values("x", ("x",), rows.shape[1])
    else:
        columns = {f"c{i}": rows[:, i] for i in range(rows.shape[1])}
        values = Values("x", tuple(columns), 0)
    rule = Packed(values, category)
    sent = pa.table({OF_NEIGHBOUR: rule.bytes_of(pa.table(columns))})
    np.testing.assert_array_equal(rule.read(sent, OF_NEIGHBOUR), rows)
    np.testing.assert_array_equal(rule.read(sent.slice(5, 7), OF_NEIGHBOUR), rows[5:12])
    assert rule.read(sent, OF_NEIGHBOUR).dtype == (np.int64 if category else np.float32)


def test_nodes_are_described_by_their_keys_or_their_attributes(graph):
    pruner = LSP(k=5, attributes=("neighbour",)).fit(graph)
    rule = Packed(Values("x", ("x",), 3), False)
    table = pa.table(
        {ID: np.arange(40), "x": pa.array(graph.x.tolist(), pa.list_(pa.float32())), DEGREE: np.ones(40, int)}
    )

    def described(steps: int) -> pa.Table:
        task = Describe(pruner, rule, False, steps)
        return pa.Table.from_batches(task.run(iter(table.to_batches(max_chunksize=9))))

    keys, rows = described(5), described(0)
    np.testing.assert_array_equal(keys.column(ID).to_numpy(), np.arange(40))
    expected = node_keys(pruner, np.arange(40), graph.x, 0, 5, 5, runtime(1))
    np.testing.assert_array_equal(_keys(keys.column(OF_NEIGHBOUR), 5), expected)
    np.testing.assert_array_equal(rule.read(rows, OF_NEIGHBOUR), graph.x)
