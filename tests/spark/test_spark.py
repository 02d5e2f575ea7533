"""Spark keeps the edges that memory keeps, and says in one sentence what it cannot do."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmark_helpers import figures, script, tiny_options

from graphs import name_of
from lsprune import (
    LSP,
    First,
    FormatError,
    Graph,
    GraphError,
    LocalRandom,
    MissingDependency,
    OptionError,
    Projection,
    Threshold,
    __version__,
)
from lsprune.baselines import Cosine, Jaccard, LocalDegree, LowDegree, Random, TopWeight
from lsprune.errors import BipartiteWarning
from lsprune.files import read_edges
from lsprune.hashing import Bins, Codebook, Identity, Signs
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.pruners import PaperLSP

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
pytest.importorskip("pandas", reason="PySpark needs pandas where it uses Arrow: pip install 'lsprune[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java, which Spark runs on, is not installed", allow_module_level=True)

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from lsprune.cli.spark import _cause, _check_paths, _plainly  # noqa: E402
from lsprune.outofcore import prune_stream  # noqa: E402
from lsprune.spark import budget as budgets  # noqa: E402
from lsprune.spark import fit_spark, prune_spark, workers  # noqa: E402
from lsprune.spark.budget import Budget  # noqa: E402
from lsprune.spark.columns import AttributeColumns  # noqa: E402
from lsprune.spark.packed_rows import pack_rows, unpack_keys  # noqa: E402
from lsprune.spark.preparation import prepare  # noqa: E402
from lsprune.spark.tables import GraphTables  # noqa: E402
from lsprune.spark.tasks import NEIGHBOUR_COLUMN, Select  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

NODES, EDGES = 40, 900
ATTR = ["a", "b"]


@pytest.fixture(scope="module")
def session():
    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = pyspark.sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        for name, value in {
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # short runs: compile little
        }.items():
            builder = builder.config(name, value)
        made = builder.getOrCreate()
        yield made
        made.stop()
    if before is None:
        del os.environ["PYSPARK_PYTHON"]
    else:
        os.environ["PYSPARK_PYTHON"] = before


@pytest.fixture(scope="module")
def graph():
    """Two hubs, self-loops, parallel edges, equal attributes."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES - 1, (2, EDGES))
    big = rng.random((2, EDGES)) < 0.3
    ends[big] = rng.integers(5, 7, int(big.sum()))
    x = rng.integers(-2, 3, (NODES, 3)).astype(np.float32)
    attr = np.abs(rng.integers(-2, 3, (EDGES, 2))).astype(np.float32) + 0.5
    return Graph.from_edges(ends, num_nodes=NODES, x=x, edge_attr=attr)


@pytest.fixture(scope="module")
def tables(session, graph):
    source, target = graph.ends()
    columns = {"source": source, "target": target, "n": np.arange(EDGES), "word": [f"e{i}" for i in range(EDGES)]}
    attr = {"a": graph.edge_attr[:, 0], "b": graph.edge_attr[:, 1]}
    edges = session.createDataFrame(pa.table({**columns, **attr})).repartition(3).persist()
    rows = pa.array(graph.x.tolist(), pa.list_(pa.float32()))
    nodes = session.createDataFrame(pa.table({"id": np.arange(NODES), "x": rows})).repartition(2).persist()
    return edges, nodes


def kept_by(frame, column="n"):
    found = frame.toArrow().column(column).to_numpy()
    assert np.unique(found).shape == found.shape  # each edge once
    return np.sort(found)


ALL = ("owner", "edge", "neighbour")
CASES = [
    (LSP(k=3, attributes=("neighbour",)), {"broadcast": False}),
    (PaperLSP(keep=0.35, side="out", ties="id"), {"broadcast": True}),
    (LSP(k=3, hash=Threshold(), attributes=ALL, self_loops="edge"), {"broadcast": False}),
    (LSP(keep=0.5, hash=Bins(), attributes=("neighbour",), self_loops="drop"), {}),
    (LSP(k=70, hash=Signs(bits=3), attributes=("neighbour",)), {}),
    (PaperLSP(k=5, hash=Projection(l=0.25), ties="position", replace=True), {}),
    (LSP(k=4, hash=Codebook(), attributes=("neighbour",), weights="degree"), {}),
    (LSP(keep=0.4, hash=Identity(), weights="degree", select="bottom"), {"broadcast": False}),
    (LSP(k=2, hash=Identity(), weights="neighbour:0", self_loops="edge"), {}),
    (LSP.paper("t", k=2), {}),
    (LocalRandom(keep=0.45, side="out"), {}),
    (LowDegree(k=3), {}),
    (Cosine(k=4, self_loops="drop"), {}),
    (TopWeight(k=3, column=1), {}),
    (First(k=2), {}),
]


@pytest.mark.parametrize(
    ("pruner", "options"), CASES, ids=lambda one: name_of(one) if not isinstance(one, dict) else ""
)
def test_the_same_edges_as_in_memory_with_hubs_shared_out(tables, graph, pruner, options):
    edges, nodes = tables
    if pruner.name == "lsp" and pruner.weights == "neighbour:0":
        nodes = nodes.selectExpr("id", "transform(x, value -> value + 3) as x")
        graph = Graph.from_edges(graph.ends(), num_nodes=NODES, x=graph.x + 3, edge_attr=graph.edge_attr)
    if pruner.name == "lsp" and pruner.family.learns:
        pruner = pruner.fit(graph)
    options = {"edge_attr": ATTR, "position": "n", "partitions": 3, **options}
    kept = prune_spark(edges, nodes, pruner, **options, hub=80)
    assert kept.schema == edges.schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))


def test_a_hub_that_keeps_more_edges_than_there_are_functions(session):
    rng = np.random.default_rng(1)
    ends = np.stack([rng.integers(0, NODES, 400), np.where(np.arange(400) < 350, 3, rng.integers(0, NODES, 400))])
    x = rng.standard_normal((NODES, 3)).astype(np.float32)
    edges = session.createDataFrame(pa.table({"source": ends[0], "target": ends[1], "n": np.arange(400)}))
    nodes = session.createDataFrame(
        pa.table({"id": np.arange(NODES), "x": pa.array(x.tolist(), pa.list_(pa.float32()))})
    )
    pruner = PaperLSP(k=300, ties="id")
    mask = pruner.mask(Graph.from_edges(ends, num_nodes=NODES, x=x))
    kept = prune_spark(edges, nodes, pruner, position="n", partitions=3, hub=80)
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(mask))


def test_weights_beyond_float32_are_compared_and_those_that_are_not_finite_named(session):
    table = {"source": [1, 2, 3], "target": [0, 0, 0], "n": [0, 1, 2]}
    for weights, kept in (([1e39, 3e39, 2e39], [1]), ([[1e39], [3e39], [2e39]], [1])):
        frame = session.createDataFrame(pa.table({**table, "w": weights}))
        np.testing.assert_array_equal(kept_by(prune_spark(frame, None, TopWeight(k=1), edge_attr="w")), kept)
    frame = session.createDataFrame(pa.table({**table, "w": [1.0, float("inf"), 2.0]}))
    with pytest.raises(GraphError, match="edge_attr must be finite, got inf at source 2, target 0"):
        prune_spark(frame, None, TopWeight(k=1), edge_attr="w")


@pytest.mark.parametrize(
    "weights",
    [0.1 + np.arange(EDGES) * np.spacing(0.1), 1_700_000_000_000_000_000 + np.arange(EDGES)],
    ids=["float64", "int64"],
)
def test_weights_that_float32_cannot_tell_apart_are_compared_exactly(session, graph, weights):
    (source, target), weights = graph.ends(), np.random.default_rng(0).permutation(weights)
    table = pa.table({"source": source, "target": target, "n": np.arange(EDGES), "w": weights})
    kept = prune_spark(session.createDataFrame(table), None, TopWeight(k=3), edge_attr="w", position="n", hub=80)
    expected = TopWeight(k=3).mask(Graph.from_edges((source, target), edge_attr=weights))
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(expected))


def test_hubs_are_found_and_change_nothing(tables, graph):
    edges, nodes = tables
    ready = prepare(GraphTables(edges=edges, nodes=nodes, edge_attr=ATTR), LSP(k=3), "n")
    degree = np.bincount(graph.ends()[1], minlength=NODES)
    assert sorted(ready._hubs(edges, None, 80)) == np.flatnonzero(degree > 80).tolist() == [5, 6]
    assert ready._hubs(edges, None, EDGES) == []
    one = kept_by(ready.pruned(3, None, EDGES))
    np.testing.assert_array_equal(one, kept_by(ready.pruned(2, None, 10)))
    plain = ready.pruned(3, None, EDGES)._jdf.queryExecution().toString()
    shared = ready.pruned(3, None, 80)._jdf.queryExecution().toString()
    assert plain.count("MapInArrow") < shared.count("MapInArrow")


def test_without_a_position_parallel_edges_may_be_swapped_and_nothing_else(tables, graph):
    edges, nodes = tables
    kept = prune_spark(edges, nodes, LSP(keep=0.3), edge_attr=ATTR)
    source, target = graph.ends()
    found, expected = kept_by(kept), np.flatnonzero(LSP(keep=0.3).mask(graph))
    pairs = [sorted(zip(source[some].tolist(), target[some].tolist(), strict=True)) for some in (found, expected)]
    assert pairs[0] == pairs[1]


def test_keep_is_exact_when_hashes_are_refined_bit_by_bit(tables, graph, monkeypatch):
    monkeypatch.setattr(budgets, "MAX_COLLECTED_OWNERS", 0)
    edges, _ = tables
    for keep in (0.02, 0.5, 0.51):
        pruner = LocalRandom(keep=keep, seed=3)
        kept = kept_by(prune_spark(edges, None, pruner, position="n"))
        np.testing.assert_array_equal(kept, np.flatnonzero(pruner.mask(graph)))


@pytest.mark.parametrize("budget", [{"keep": 1.0}, {"k": 0}, {"k": EDGES}, {"k": 2**31 - 1}])
@pytest.mark.parametrize("loops", ["free", "drop"])
def test_all_or_nothing(tables, graph, budget, loops):
    pruner = LSP(**budget, self_loops=loops, hash="identity")
    kept = prune_spark(tables[0], None, pruner)
    assert kept.schema == tables[0].schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))


LOOP_PRUNERS = [  # the other pruners meet self-loops in CASES
    LowDegree(k=1),
    LowDegree(k=1, self_loops="edge"),
    LocalDegree(k=2, side="out"),
    LocalDegree(k=1, self_loops="drop"),
    LSP(keep=0.4, hash=Identity(), weights="degree"),
    LSP(k=1, hash=Identity(), weights="degree", self_loops="edge", side="out"),
    LSP(k=70, hash=Identity(), weights="degree"),  # the degrees travel, not the keys
    LSP(k=2, attributes=("neighbour",), weights="degree"),
]


@pytest.fixture(scope="module")
def looped(session):
    """Random edges and parallel ones, loops everywhere; of the last nodes some have nothing but loops, some nothing."""
    rng = np.random.default_rng(4)
    count, nodes = 120, 24
    ends = rng.integers(0, 16, (2, count))
    ends[1, 70:80] = ends[0, 70:80]
    ends[:, 80:84], ends[:, 84:88] = 17, [[18, 19, 0, 20], [18, 19, 21, 3]]  # 21 is owner only, 20 neighbour only
    ends[:, 88:] = ends[:, rng.integers(0, 88, count - 88)]
    x = rng.standard_normal((nodes, 2)).astype(np.float32)
    graph = Graph.from_edges(ends, num_nodes=nodes, x=x)
    edges = session.createDataFrame(pa.table({"source": ends[0], "target": ends[1], "n": np.arange(count)}))
    rows = pa.array(x.tolist(), pa.list_(pa.float32()))
    return graph, edges.persist(), session.createDataFrame(pa.table({"id": np.arange(nodes), "x": rows})).persist()


def test_self_loops_are_treated_as_in_memory(looped):
    graph, edges, nodes = looped
    pruners = [pruner.fit(graph) for pruner in LOOP_PRUNERS]  # fewer jobs than fitting on Spark, the same pruner
    kept = []
    for i, pruner in enumerate(pruners):
        some = nodes if getattr(pruner, "fitted", None) else None
        frame = prune_spark(edges, some, pruner, position="n", partitions=1)
        kept.append(frame.selectExpr("n", f"{i} as pruner"))
    found = functools.reduce(pyspark.sql.DataFrame.unionByName, kept).toArrow()
    by, rows = found.column("pruner").to_numpy(), found.column("n").to_numpy()
    for i, pruner in enumerate(pruners):
        assert np.sort(rows[by == i]).tolist() == np.flatnonzero(pruner.mask(graph)).tolist(), repr(pruner)


def test_no_edges(session):
    edges = session.createDataFrame([], "source long, target int")
    kept = prune_spark(edges, None, LSP(keep=0.5, hash="identity"))
    assert kept.count() == 0
    assert kept.schema == edges.schema


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


def test_keys_of_different_widths_go_together():
    narrow, wide = np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(6).reshape(2, 3) + (1 << 40)
    one = pa.table({NEIGHBOUR_COLUMN: pa.chunked_array([pack_rows(narrow), pack_rows(wide), pack_rows(narrow)])})
    np.testing.assert_array_equal(unpack_keys(one.column(0), 3), np.concatenate([narrow, wide, narrow]))
    np.testing.assert_array_equal(unpack_keys(one.column(0).slice(1, 2), 3), np.concatenate([narrow[1:], wide[:1]]))
    np.testing.assert_array_equal(unpack_keys(one.column(0).slice(2, 2), 3), wide)


def test_a_budget_follows_from_the_id():
    owner = np.arange(100)
    hashed = draw(5, OWNER, owner)
    last = int(np.argsort(hashed)[9])
    quota = Budget(2, 5, (int(hashed[last]), last)).of(owner)
    assert sorted(np.argsort(hashed)[:10].tolist()) == np.flatnonzero(quota == 3).tolist()
    assert (quota >= 2).all()


FITS = [
    LSP(k=1),
    PaperLSP(k=1, attributes=ALL, values="raw"),
    LSP(k=1, attributes=("neighbour",), hash=Threshold(), side="out"),
    LSP(k=1, hash=Identity()),
]


@pytest.mark.parametrize("pruner", FITS, ids=name_of)
def test_fit_is_the_same_as_in_memory(tables, graph, pruner):
    edges, nodes = tables
    assert fit_spark(edges, nodes, pruner, edge_attr=ATTR) == pruner.fit(graph)


@pytest.mark.parametrize("kind", ["column", "category", "offset"])
def test_fit_on_single_columns(session, graph, kind):
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


@pytest.mark.parametrize(
    ("pruner", "error", "said"),
    [
        (LSP(k=1, symmetric="union"), OptionError, "symmetric must be None"),
        (LSP(k=1, hash="structure"), OptionError, "structure must see the whole graph"),
        (LSP(k=1, weights="jaccard"), OptionError, "jaccard"),
        (LSP(k=1, hash="codebook"), OptionError, "codebook must be fitted before"),
        (LSP(k=1, hash="auto"), OptionError, "auto must be fitted before"),
        (Jaccard(k=1), OptionError, "jaccard must see the whole graph"),
        (Random(k=1), OptionError, "random must see the whole graph"),
        (LSP.paper("p", k=1), OptionError, "position must name the column"),
        (First(k=1), OptionError, "position must name the column"),
    ],
    ids=lambda one: name_of(one) if not isinstance(one, (str, type)) else "",
)
def test_what_cannot_be_done_is_refused_at_once(tables, pruner, error, said):
    with pytest.raises(error, match=said):
        prune_spark(*tables, pruner, edge_attr=ATTR)


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


def test_a_missing_package_is_named(monkeypatch, tables):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"Spark needs pandas: pip install 'lsprune\[spark\]'"):
        prune_spark(*tables, LSP(k=1))


def worker_python(folder: Path, code: str) -> str:
    """A Python for workers that runs this code when it starts."""
    (folder / "sitecustomize.py").write_text(code)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    script.chmod(0o755)
    return str(script)


WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "lsprune":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
OLDER = "import lsprune; lsprune.__version__ = '0.0.1'"


@pytest.mark.parametrize(("code", "said"), [(WITHOUT, "says: No module named 'lsprune'"), (OLDER, "has 0.0.1")])
def test_workers_without_this_lsprune_are_named_in_one_sentence(session, tables, tmp_path, monkeypatch, code, said):
    monkeypatch.setattr(session.sparkContext, "pythonExec", worker_python(tmp_path, code))
    pattern = f"^lsprune {__version__} must be installed on every worker of Spark, but .* {said}; .*--py-files"
    for work in (prune_spark, fit_spark):
        with pytest.raises(MissingDependency, match=pattern):
            work(*tables, LSP(k=1, hash="identity"))


def test_workers_are_asked_once(tables, monkeypatch):
    prune_spark(tables[0], None, LSP(k=1, hash="identity"))
    monkeypatch.setattr(workers, "_answers", lambda session: pytest.fail("asked again"))
    prune_spark(tables[0], None, LSP(k=1, hash="identity"))


def test_a_worker_that_came_later_without_lsprune_is_one_line_too():
    class Late(Exception):
        __module__ = "pyspark.errors"

    with pytest.raises(MissingDependency, match="must be installed on every worker of Spark") as error, _plainly():
        raise Late("job aborted\nTraceback ...\nModuleNotFoundError: No module named 'lsprune'\n\tat java.X")
    assert "\n" not in str(error.value)


def test_nodes_must_be_given_where_they_are_looked_at(tables, graph):
    with pytest.raises(GraphError, match="nodes must be a table"):
        prune_spark(tables[0], None, Cosine(k=1))


def test_ids_with_gaps(session, graph):
    """Ids need not be numbered without gaps once the pruner is fitted."""
    pruner = LSP(k=2, attributes=("neighbour",)).fit(graph)
    source, target = graph.ends()
    x = np.zeros((NODES * 1000, 3), np.float32)
    x[::1000] = graph.x
    edges = session.createDataFrame(pa.table({"source": source * 1000, "target": target * 1000, "n": np.arange(EDGES)}))
    rows = pa.array(graph.x.tolist(), pa.list_(pa.float32()))
    nodes = session.createDataFrame(pa.table({"id": np.arange(NODES) * 1000, "x": rows}))
    whole = Graph.from_edges((source * 1000, target * 1000), x=x)
    np.testing.assert_array_equal(
        kept_by(prune_spark(edges, nodes, pruner, position="n")), np.flatnonzero(pruner.mask(whole))
    )


@pytest.mark.parametrize("numbers", [np.arange(NODES), np.arange(NODES) * 2 + 1], ids=["dense", "gaps"])
def test_one_table_of_nodes_means_the_same_in_memory_streamed_and_on_spark(session, graph, tmp_path, numbers):
    """Rows in any order, columns of numbers, ids with or without gaps; no option says what is what."""
    order, ends = np.random.default_rng(1).permutation(NODES), numbers[np.stack(graph.ends())]
    edges = pa.table({"source": ends[0], "target": ends[1], "n": np.arange(EDGES)})
    nodes = pa.table({"id": numbers[order], **{f"c{i}": graph.x[order, i] for i in range(3)}})
    pq.write_table(edges, tmp_path / "edges.parquet")
    pq.write_table(nodes, tmp_path / "nodes.parquet")
    pruner = LSP(k=2)
    memory = pruner.mask(read_edges(tmp_path / "edges.parquet", features=tmp_path / "nodes.parquet").graph)
    expected = np.flatnonzero(memory)
    if numbers[0] == 0:
        np.testing.assert_array_equal(memory, pruner.mask(Graph.from_edges(ends, num_nodes=NODES, x=graph.x)))
    spark = prune_spark(session.createDataFrame(edges), session.createDataFrame(nodes), pruner, position="n")
    np.testing.assert_array_equal(kept_by(spark), expected)
    out = tmp_path / "out.parquet"
    prune_stream(tmp_path / "edges.parquet", out, pruner, features=tmp_path / "nodes.parquet", memory="3GB")
    np.testing.assert_array_equal(pq.read_table(out).column("n").to_numpy(), expected)


def test_what_is_what_in_a_table_of_nodes(session, tables, graph):
    edges, nodes = tables
    more = nodes.selectExpr("id", "x", "'word' as word", "1 as label")
    found = kept_by(prune_spark(edges, more, LSP(k=2), position="n"))  # a column x of arrays stands for itself
    np.testing.assert_array_equal(found, kept_by(prune_spark(edges, nodes, LSP(k=2), position="n", features="x")))
    for change, options, said in (
        (["x"], {}, "one column 'id', got 0"),
        (["id", "id as node", "x"], {}, "'id', 'node' may all be ids"),
        (["id", "x"], {"id": "absent"}, "one column 'absent', got 0"),
        (["id", "x[0] as a", "'w' as word"], {}, r"column 'word' must hold numbers .*--x \(x in Python\)"),
    ):
        with pytest.raises(FormatError, match=said):
            prune_spark(edges, nodes.selectExpr(*change), LSP(k=2), **options)


@pytest.mark.parametrize(
    "pruner", [LSP(k=2), LSP(keep=0.3, side="out", attributes=("owner", "neighbour")), Identity(), LocalRandom(k=3)]
)
def test_two_kinds_of_nodes_as_in_memory(session, pruner):
    pruner = LSP(keep=0.4, hash=pruner) if isinstance(pruner, Identity) else pruner
    rng = np.random.default_rng(2)
    user, item = rng.integers(0, 60, EDGES), rng.integers(0, 15, EDGES)
    x = rng.standard_normal((60, 3)).astype(np.float32), rng.standard_normal((15, 5)).astype(np.float32)
    whole = Graph.from_edges((user, item), num_nodes=(60, 15), x=x)
    edges = session.createDataFrame(pa.table({"user": user, "item": item, "n": np.arange(EDGES)}))
    sources, targets = (
        session.createDataFrame(pa.table({name: np.arange(len(rows))[::-1], "x": rows[::-1].tolist()}))
        for name, rows in zip(("id", "item_id"), x, strict=True)
    )
    options = {"source": "user", "target": "item", "bipartite": True, "targets": targets, "target_id": "item_id"}
    found = kept_by(prune_spark(edges, sources, pruner, position="n", **options))
    np.testing.assert_array_equal(found, np.flatnonzero(pruner.mask(whole)))
    if isinstance(pruner, LSP) and pruner.k is not None:
        assert fit_spark(edges, sources, pruner, **options) == pruner.fit(whole)
        with pytest.raises(GraphError, match=r"among the nodes, in \[0, 15\), got 59"):
            prune_spark(edges, sources, pruner, **{**options, "source": "item", "target": "user"})
        with pytest.raises(OptionError, match=r"targets \(--targets\) goes with --bipartite"):
            prune_spark(edges, sources, pruner, **{**options, "bipartite": None})


def test_columns_that_look_like_two_kinds_are_warned_of(tables):
    edges = tables[0].withColumnsRenamed({"source": "user", "target": "item"})
    with pytest.warns(BipartiteWarning, match="'user' and 'item' look like two kinds"):
        prune_spark(edges, None, LocalRandom(k=2), source="user", target="item")
    with warnings.catch_warnings():
        warnings.simplefilter("error", BipartiteWarning)
        prune_spark(edges, None, LocalRandom(k=2), source="user", target="item", bipartite=False)


def test_command_line(session, tables, graph, tmp_path):
    from typer.testing import CliRunner

    from lsprune.cli import app

    edges, nodes = tables
    edges.write.parquet(str(tmp_path / "edges"))
    nodes.write.parquet(str(tmp_path / "nodes"))
    command = ["spark-prune", str(tmp_path / "edges"), str(tmp_path / "out"), "--k", "2", "--edge-attr", "a,b"]
    command += ["--features", str(tmp_path / "nodes"), "--position", "n", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    found = pq.read_table(tmp_path / "out").column("n").to_numpy()
    np.testing.assert_array_equal(np.sort(found), np.flatnonzero(LSP(k=2).mask(graph)))
    assert (said["edges"], said["kept"]) == (EDGES, found.shape[0])
    assert not list(tmp_path.glob(".lsprune-*"))
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 1
    assert again.stderr.startswith("error: ") and "must not exist yet" in again.stderr
    wrongs = [(["--source", "s"], "one column 's'"), (["--hash", "structure"], "whole graph")]
    wrongs += [(["--id", "key"], "one column 'key'"), (["--target-id", "key"], "--target-id) goes with --bipartite")]
    for wrong, message in wrongs:
        bad = CliRunner().invoke(app, [*command[:2], str(tmp_path / "other"), *command[3:], *wrong])
        assert bad.exit_code == 1
        assert message in bad.stderr
        assert len(bad.stderr.strip().splitlines()) == 1
        assert not (tmp_path / "other").exists()


def test_an_executor_killed_while_it_selects_changes_nothing(tmp_path):
    if not Path("/proc/self/comm").exists():
        pytest.skip("the executor to kill is found in /proc")
    home = tmp_path / "spark"  # where local-cluster finds the classes for its executors, and writes their logs
    home.mkdir()
    for part in ("bin", "jars", "python"):
        (home / part).symlink_to(Path(pyspark.__file__).parent / part)
    paths = os.pathsep.join([str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH", "")])
    places = {"SPARK_HOME": str(home), "PYTHONPATH": paths}
    script = Path(__file__).parents[1] / "helpers" / "spark_cluster.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, **places, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads((tmp_path / "said.json").read_text())
    assert said["killed"] != said["driver"]
    assert not Path(f"/proc/{said['killed']}").exists()
    assert sorted(said["found"]) == said["expected"]


def test_a_submitted_job_with_the_package_as_one_file_keeps_what_memory_keeps(tmp_path):
    root = Path(__file__).parents[2]
    shutil.copytree(
        root / "src" / "lsprune", tmp_path / "zip" / "lsprune", ignore=shutil.ignore_patterns("__pycache__")
    )
    package = shutil.make_archive(str(tmp_path / "lsprune"), "zip", tmp_path / "zip")  # a wheel is such a file
    rng = np.random.default_rng(3)
    ends, x = rng.integers(0, 30, (2, 600)), rng.standard_normal((30, 4)).astype(np.float32)
    pq.write_table(pa.table({"source": ends[0], "target": ends[1], "n": np.arange(600)}), tmp_path / "edges.parquet")
    rows = pa.array(x.tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": np.arange(30), "x": rows}), tmp_path / "nodes.parquet")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    files = [str(tmp_path / name) for name in ("edges.parquet", "nodes.parquet", "out")]
    places = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONSAFEPATH": "1"}
    command = [str(submit), "--master", "local[1]", "--conf", "spark.ui.enabled=false", "--py-files", package]
    done = subprocess.run(
        [*command, str(root / "examples" / "spark_job.py"), *files],
        env={**{k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, **places},
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    kept = sorted(pq.read_table(tmp_path / "out")["n"].to_pylist())
    assert kept == np.flatnonzero(LSP(k=8).mask(Graph.from_edges(ends, num_nodes=30, x=x))).tolist()


def test_the_benchmark_prints_every_figure_at_a_tiny_size(session, capsys):
    script("spark", *tiny_options()["spark"])
    figures(
        capsys.readouterr().out, ("Spark  ", "Spark, cost of an edge", "Spark, shuffled", "memory  ", "Spark / memory")
    )
    assert session.range(3).count() == 3  # the session goes on


def test_the_innermost_cause_is_what_is_said():
    lines = [
        "An error occurred while calling o30.parquet.",
        ": org.X: job failed",
        "at y",
        "Caused by: E: a.parquet is not",
    ]
    assert _cause(lines) == "E: a.parquet is not"
    assert _cause(lines[:2]) == ": org.X: job failed"
    assert _cause(["[NO_FILE] there is none"]) == "[NO_FILE] there is none"


def test_a_link_to_nothing_is_in_the_way_before_any_work(tmp_path):
    (tmp_path / "out").symlink_to("absent")
    with pytest.raises(OptionError, match="must not exist yet"):
        _check_paths(str(tmp_path / "out"))
