"""Tables are checked against each other and against the pruner, which is fitted if it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP, First, FormatError, GraphError, OptionError
from lsprune.baselines import Cosine
from lsprune.spark import fit_spark, prune_spark
from lsprune.spark.preparation import fit_tables, prepare
from lsprune.spark.tables import GraphTables

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
ATTR = ["a", "b"]
KIND = np.arange(40) % 3


def test_a_plan_has_the_fitted_pruner_and_the_tables_that_it_looks_at(tables, graph):
    edges, nodes = tables
    given = GraphTables(edges=edges, nodes=nodes, edge_attr=ATTR)
    fitted = LSP(k=2, side="out", attributes=("neighbour",)).fit(graph)
    plan = prepare(given, fitted, "n")
    assert (plan.owner, plan.neighbour, plan.position, plan.bipartite) == ("source", "target", "n", False)
    assert plan.pruner is fitted and plan.edges.width == 0 and plan.nodes[0].width == 3
    assert prepare(given, LSP(k=2), None).pruner == fit_tables(given, LSP(k=2)) == LSP(k=2).fit(graph)


def test_a_pruner_that_goes_by_the_order_needs_a_position():
    with pytest.raises(OptionError, match="position must name the column"):
        prepare(GraphTables(edges=None, nodes=None), First(k=1), None)


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
        (["id div 2 as id", "x"], "ids of nodes must be unique, got . 2 times"),
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


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (
            ["id", "transform(x, v -> float('nan')) as x"],
            {"edge_attr": ATTR},
            "x must be finite in float32, got nan at id",
        ),
        (["id", "slice(x, 1, 2) as x"], {"edge_attr": ATTR}, "x must have 3 columns as when fitted, got 2"),
        (["id", "id as x"], {"edge_attr": ATTR}, "x must be a vector as when fitted"),
        (["id", "x"], {}, "edge_attr must name the columns"),
    ],
)
def test_tables_must_be_like_those_that_the_pruner_was_fitted_on(tables, graph, change, options, said):
    edges, nodes = tables
    with pytest.raises(GraphError, match=said):
        prune_spark(edges, nodes.selectExpr(*change), LSP(k=1).fit(graph), **options)


def test_nodes_must_be_given_where_they_are_looked_at(tables, graph):
    with pytest.raises(GraphError, match="nodes must be a table"):
        prune_spark(tables[0], None, Cosine(k=1))


def test_weights_that_compare_neighbourhoods_are_checked_before_anything_runs(tables, graph):
    edges, nodes = tables
    with pytest.raises(GraphError, match="jaccard.* needs one kind of nodes"):
        prune_spark(edges, None, LSP(k=1, hash="identity", weights="jaccard"), bipartite=True)
    similar = LSP(k=1, hash="identity", weights="similarity")
    with pytest.raises(GraphError, match="needs node attributes"):
        prune_spark(edges, None, similar)
    with pytest.raises(GraphError, match="x must have 3 columns as when fitted, got 2"):
        prune_spark(edges, nodes.selectExpr("id", "slice(x, 1, 2) as x"), similar.fit(graph))
    kinds = LSP(k=1, hash="identity", weights="similarity").fit(replace(graph, x_source=KIND, x_target=KIND))
    with pytest.raises(GraphError, match="x as a category must be in"):
        prune_spark(edges, nodes.selectExpr("id", "id as x"), kinds)
