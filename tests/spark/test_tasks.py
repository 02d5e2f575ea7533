"""What runs where the rows are: descriptions of nodes, and selection from sorted batches."""

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
from lsprune.spark.columns import AttributeColumns
from lsprune.spark.packed_rows import PackedAttributes, unpack_keys
from lsprune.spark.tasks import DEGREE_COLUMN, ID_COLUMN, NEIGHBOUR_COLUMN, Describe, Select


def test_an_owner_in_many_batches_is_carried(graph):
    pruner = LSP(k=4, hash=Signs(bits=3), attributes=("edge",)).fit(graph)
    source, target = graph.ends()
    order = np.argsort(target, kind="stable")
    a, b = graph.edge_attr[order].T
    table = pa.table({"source": source[order], "target": target[order], "a": a, "b": b, "n": order})
    values = AttributeColumns("edge_attr", ("a", "b"), 0)
    task = Select(pruner, Budget(4), "target", "source", ("n",), edge_attr=values, rows=1)
    found = pa.Table.from_batches(task.run(iter(table.to_batches(max_chunksize=7)))).column("n").to_numpy()
    np.testing.assert_array_equal(np.sort(found), np.flatnonzero(pruner.mask(graph)))


def test_nodes_are_described_by_their_keys_or_their_attributes(graph):
    pruner = LSP(k=5, attributes=("neighbour",)).fit(graph)
    rule = PackedAttributes(AttributeColumns("x", ("x",), 3), False)
    table = pa.table(
        {
            ID_COLUMN: np.arange(40),
            "x": pa.array(graph.x.tolist(), pa.list_(pa.float32())),
            DEGREE_COLUMN: np.ones(40, int),
        }
    )

    def described(steps: int) -> pa.Table:
        task = Describe(pruner, rule, False, steps)
        return pa.Table.from_batches(task.run(iter(table.to_batches(max_chunksize=9))))

    keys, rows = described(5), described(0)
    np.testing.assert_array_equal(keys.column(ID_COLUMN).to_numpy(), np.arange(40))
    expected = node_keys(pruner, np.arange(40), graph.x, 0, 5, 5, runtime(1))
    np.testing.assert_array_equal(unpack_keys(keys.column(NEIGHBOUR_COLUMN), 5), expected)
    np.testing.assert_array_equal(rule.unpack(rows.column(NEIGHBOUR_COLUMN)), graph.x)
