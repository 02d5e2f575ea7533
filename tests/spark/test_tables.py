"""What the caller says of the tables: which columns hold what, and whether there are two kinds of nodes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

from lsprune import LSP, FormatError, LocalRandom, OptionError
from lsprune.errors import BipartiteWarning
from lsprune.spark import prune_spark
from lsprune.spark.tables import GraphTables

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def test_what_is_what_in_a_table_of_nodes(session, tables, graph, kept_by):
    edges, nodes = tables
    more = nodes.selectExpr("id", "x", "'word' as word", "1 as label")
    found = kept_by(prune_spark(edges, more, LSP(k=2), position="n"))  # a column x of arrays stands for itself
    np.testing.assert_array_equal(found, kept_by(prune_spark(edges, nodes, LSP(k=2), position="n", features="x")))
    for change, options, said in (
        (["x"], {}, "one column 'id', got 0"),
        (["id", "id as node", "x"], {}, "several columns may hold ids: 'id', 'node'"),
        (["id", "x"], {"id": "absent"}, "one column 'absent', got 0"),
        (["id", "x[0] as a", "'w' as word"], {}, r"column 'word' must hold numbers .*--x \(x in Python\)"),
    ):
        with pytest.raises(FormatError, match=said):
            prune_spark(edges, nodes.selectExpr(*change), LSP(k=2), **options)


def test_columns_that_look_like_two_kinds_are_warned_of(tables):
    edges = tables[0].withColumnsRenamed({"source": "user", "target": "item"})
    with pytest.warns(BipartiteWarning, match="'user' and 'item' look like two kinds"):
        prune_spark(edges, None, LocalRandom(k=2), source="user", target="item")
    with warnings.catch_warnings():
        warnings.simplefilter("error", BipartiteWarning)
        prune_spark(edges, None, LocalRandom(k=2), source="user", target="item", bipartite=False)


def test_one_kind_of_nodes_is_checked_once_and_two_kinds_by_their_own_columns(tables):
    edges, nodes = tables
    one = GraphTables(edges=edges, nodes=nodes)
    sources, targets = one.check_nodes((True, False))
    assert sources is targets and sources.width == 3
    items = nodes.selectExpr("id as item", "x[0] as price")
    two = GraphTables(edges=edges, nodes=nodes, bipartite=True, targets=items, target_id="item")
    sources, targets = two.check_nodes((False, True))
    assert (sources.id_columns, sources.width) == (("id",), 0)
    assert (targets.id_columns, targets.facts.attributes.columns) == (("item",), ("price",))
    assert (one.node_frame(1), two.node_frame(0), two.node_frame(1)) == (nodes, nodes, items)


def test_attributes_of_edges_are_looked_at_only_where_they_are_needed(tables):
    given = GraphTables(edges=tables[0], nodes=None, edge_attr=["a", "b"])
    assert given.check_edges(True).facts.attributes.columns == ("a", "b")
    assert given.check_edges(False).facts.attributes is None
    assert given.check_nodes((True, True)) == (None, None)


@pytest.mark.parametrize("option", ["targets", "target_id", "target_features"])
def test_options_of_two_kinds_go_with_two_kinds(option):
    given = GraphTables(edges=None, nodes=None, **{option: "given"})
    with pytest.raises(OptionError, match="needs --bipartite"):
        given.check_kinds()
