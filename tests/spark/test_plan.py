"""From tables to the selection: what is checked, who is a hub, and where nothing has to be selected."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP, FormatError, GraphError
from lsprune.spark import fit_spark, plan, prune_spark

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
ATTR = ["a", "b"]


def test_hubs_are_found_and_change_nothing(tables, graph, kept_by):
    edges, nodes = tables
    given = plan.Tables(edges, ("source", "target"), ATTR, (nodes, None), (None, None), (None, None))
    ready = plan.prepared(given, LSP(k=3), "n")
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


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (
            ["cast(source as string) as source", "target"],
            FormatError,
            "'source' must hold whole numbers as ids, got str",
        ),
        (["source as s", "target"], FormatError, "one column 'source', got 0"),
        (["nullif(source, 5) as source", "target"], GraphError, "column 'source' must have ids in every row, got"),
        (["source - 1 as source", "target"], GraphError, "ids must be >= 0, got -1"),
        (["source", "target + 2 as target"], GraphError, r"among the nodes, in \[0, 40\), got 40"),
    ],
)
def test_bad_edges_are_named(tables, change, error, said):
    edges, nodes = tables
    with pytest.raises(error, match=said):
        prune_spark(edges.selectExpr(*change), nodes, LSP(k=1, hash="identity"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["id", "slice(x, 1, 1 + id % 2) as x"], "arrays of one length, got 1 and 2"),
        (["id", "nullif(x, x) as x"], "column 'x' must have x in every row, got 40 without"),
        (["id", "transform(x, v -> float('nan')) as x"], "x must be finite in float32, got nan at id"),
        (["id div 2 as id", "x"], "there once each"),
        (["id + (id div 39) as id", "x"], "ids in edges must be among the nodes, got 39 in column 'target'"),
    ],
)
def test_bad_nodes_are_named(tables, change, said):
    edges, nodes = tables
    if "39" in change[0]:  # the ids have a gap: 38 and 40 are there, 39 is not
        edges = edges.selectExpr("source", "least(target + 1, 39) as target")
    for work in (prune_spark, fit_spark):
        with pytest.raises(GraphError, match=said):
            work(edges, nodes.selectExpr(*change), LSP(k=1, attributes=("neighbour",)))
