"""`fit` on tables gives the pruner that `fit` in memory gives."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

import pyarrow as pa

from graphs import name_of
from lsprune import LSP, Graph, OptionError, Threshold
from lsprune.hashing import Bins, Identity
from lsprune.pruners import PaperLSP
from lsprune.spark import fit_spark, fitting, prune_spark

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
ATTR = ["a", "b"]
ALL = ("owner", "edge", "neighbour")
NODES, EDGES = 40, 900


FITS = [
    LSP(k=1),
    PaperLSP(k=1, attributes=ALL, values="raw"),
    LSP(k=1, attributes=("neighbour",), hash=Threshold(), side="out"),
    LSP(k=1, hash=Identity()),
    PaperLSP(k=1, values="raw", weights="degree*similarity"),  # two scales of one table
    LSP(k=1, hash=Identity(), weights="similarity"),
]


@pytest.mark.parametrize("pruner", FITS, ids=name_of)
def test_fit_is_the_same_as_in_memory(tables, graph, pruner):
    edges, nodes = tables
    assert fit_spark(edges, nodes, pruner, edge_attr=ATTR) == pruner.fit(graph)


@pytest.mark.parametrize("kind", ["column", "category", "offset"])
def test_fit_on_single_columns(session, graph, kind, kept_by):
    rng = np.random.default_rng(1)
    x, attr = rng.standard_normal(NODES), rng.standard_normal(EDGES) ** 3
    if kind == "category":
        x, attr = np.arange(NODES) % 9, rng.integers(0, 5, EDGES)
    if kind == "offset":
        attr = attr + 1e6
    source, target = graph.ends()
    edges = session.createDataFrame(pa.table({"source": source, "target": target, "n": np.arange(EDGES), "a": attr}))
    nodes = session.createDataFrame(pa.table({"id": np.arange(NODES), "x": x}))
    whole = Graph.from_edges(graph.ends(), num_nodes=NODES, x=x, edge_attr=attr)
    pruner = LSP(k=2, attributes=ALL, hash=Bins())
    fitted = fit_spark(edges, nodes, pruner, edge_attr="a")
    assert fitted == pruner.fit(whole)
    kept = kept_by(prune_spark(edges, nodes, fitted, edge_attr="a", position="n"))
    np.testing.assert_array_equal(kept, np.flatnonzero(fitted.mask(whole)))


def test_fit_looks_at_the_same_sample_of_nodes(session, monkeypatch):
    from lsprune.numeric import quantisation as scales

    monkeypatch.setattr(scales, "SAMPLE_ROWS", 20)
    x = np.random.default_rng(2).standard_normal((100, 2)).astype(np.float32)
    ends = np.stack([np.arange(99), np.arange(1, 100)])
    rows = pa.array(x.tolist(), pa.list_(pa.float32()))
    nodes = session.createDataFrame(pa.table({"id": np.arange(100), "x": rows})).repartition(2)
    edges = session.createDataFrame(pa.table({"source": ends[0], "target": ends[1]}))
    assert fit_spark(edges, nodes, LSP(k=1)) == LSP(k=1).fit(Graph.from_edges(ends, x=x))
    with pytest.raises(OptionError, match="numbered from 0 to 99 without gaps"):
        fit_spark(
            edges.selectExpr("source * 2 as source", "target * 2 as target"),
            nodes.selectExpr("id * 2 as id", "x"),
            LSP(k=1),
        )


def test_the_median_comes_from_two_histograms():
    values = (np.random.default_rng(0).standard_normal(5001) ** 3).astype(np.float32)[:, None]
    finest = fitting.column_finest(int(np.floor(np.log2(np.abs(values).max()))))
    fine = np.sort(fitting.column_fine(values, finest))
    upper, rank = np.zeros(1 << 16, np.int64), 2500
    fitting._add_upper_bits(finest, values, upper)
    high = int(np.searchsorted(np.cumsum(upper), rank, side="right"))
    lower = np.zeros(1 << 16, np.int64)
    fitting._add_lower_bits(finest, high, values, lower)
    low = int(np.searchsorted(np.cumsum(lower), rank - upper[:high].sum(), side="right"))
    assert ((high - (1 << 15)) << 16) + low == fine[rank]
