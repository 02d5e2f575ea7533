"""Edges carry the logarithms that memory computes: self-loops, parallel edges, and nodes that own nothing included."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP
from lsprune.kernels import Runtime
from lsprune.selection.owners import group
from lsprune.spark.carried_weights import carried_columns, carry
from lsprune.spark.checked_table import CheckedTable
from lsprune.spark.edge_ends import EdgeEnds

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def test_a_column_for_each_weight(tables, graph):
    edges, nodes = tables
    pruners = [LSP(k=1, hash="identity", weights=name).fit(graph) for name in ("jaccard", "similarity")]
    counted = edges.where("source <> target")
    checked = CheckedTable.of(nodes, ("id",), "x", "x")
    comparisons = [one for pruner in pruners for one in pruner.comparisons()]
    found = carry(EdgeEnds(edges, counted, "target", "source", checked, 2), comparisons)
    assert found.columns == [*edges.columns, *carried_columns(2)]
    rows = found.select("n", *carried_columns(2)).toArrow()
    number = rows.column("n").to_numpy()
    assert np.sort(number).tolist() == list(range(graph.num_edges))
    for pruner, name in zip(pruners, carried_columns(2), strict=True):
        owned = group(graph, pruner.rules, Runtime())
        logs = pruner.options.weight.logs(
            graph, pruner.view(graph, owned, 1, Runtime()), "in", dict(pruner.scales)
        ).of_slot
        there = np.empty(graph.num_edges, np.int64)
        there[number] = rows.column(name).to_numpy()
        np.testing.assert_array_equal(there[owned.edge], logs)
