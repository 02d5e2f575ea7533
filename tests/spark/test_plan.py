"""From tables to the selection: who is a hub, and where nothing has to be selected."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP
from lsprune.spark import prune_spark
from lsprune.spark.preparation import prepare
from lsprune.spark.tables import GraphTables

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
ATTR = ["a", "b"]


def test_hubs_are_found_and_change_nothing(tables, graph, kept_by):
    edges, nodes = tables
    ready = prepare(GraphTables(edges=edges, nodes=nodes, edge_attr=ATTR), LSP(k=3), "n")
    degree = np.bincount(graph.ends()[1], minlength=graph.num_nodes)
    assert sorted(ready._hubs(edges, None, 80)) == np.flatnonzero(degree > 80).tolist() == [5, 6]
    assert ready._hubs(edges, None, graph.num_edges) == []
    one = kept_by(ready.pruned(3, None, graph.num_edges))
    np.testing.assert_array_equal(one, kept_by(ready.pruned(2, None, 10)))
    plain = ready.pruned(3, None, graph.num_edges)._jdf.queryExecution().toString()
    shared = ready.pruned(3, None, 80)._jdf.queryExecution().toString()
    assert plain.count("MapInArrow") < shared.count("MapInArrow")


@pytest.mark.parametrize("budget", [{"keep": 1.0}, {"k": 0}, {"k": 900}, {"k": 2**31 - 1}])
@pytest.mark.parametrize("loops", ["free", "drop"])
def test_all_or_nothing(tables, graph, budget, loops, kept_by):
    pruner = LSP(**budget, self_loops=loops, hash="identity")
    kept = prune_spark(tables[0], None, pruner)
    assert kept.schema == tables[0].schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))
