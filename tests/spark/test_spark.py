"""Spark keeps the edges that memory keeps, and says in one sentence what it cannot do."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmark_helpers import figures, script, tiny_options

from graphs import name_of
from lsprune import (
    LSP,
    First,
    Graph,
    GraphError,
    LocalRandom,
    MissingDependency,
    OptionError,
    PerNode,
    Projection,
    Threshold,
)
from lsprune.baselines import Cosine, Jaccard, LocalDegree, LowDegree, Random, TopWeight
from lsprune.files import read_edges
from lsprune.hashing import Bins, Codebook, Identity, Signs
from lsprune.pruners import PaperLSP
from lsprune.weights import Degree

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
pytest.importorskip("pandas", reason="PySpark needs pandas where it uses Arrow: pip install 'lsprune[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java, which Spark runs on, is not installed", allow_module_level=True)

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from lsprune.cli.spark import _plainly  # noqa: E402
from lsprune.outofcore import prune_stream  # noqa: E402
from lsprune.spark import fit_spark, prune_spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

NODES, EDGES = 40, 900
ATTR = ["a", "b"]


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
    (LSP(k=2, hash=Identity(), weights="degree:0.5*neighbour:0"), {}),
    (TopWeight(keep=0.4, weights=Degree(power=0.5)), {}),
    (First(k=2), {}),
    (LSP(budget=PerNode(share=0.3)), {}),
    (LocalRandom(budget=PerNode(exponent=0.5, at_least=2), side="out", self_loops="drop"), {}),
    (TopWeight(budget=PerNode(counts=np.arange(NODES) % 4), column=1), {}),
]


@pytest.mark.parametrize(
    ("pruner", "options"), CASES, ids=lambda one: name_of(one) if not isinstance(one, dict) else ""
)
def test_the_same_edges_as_in_memory_with_hubs_shared_out(tables, graph, pruner, options, kept_by):
    edges, nodes = tables
    if "part='neighbour'" in repr(getattr(pruner, "weights", None)):
        nodes = nodes.selectExpr("id", "transform(x, value -> value + 3) as x")
        graph = Graph.from_edges(graph.ends(), num_nodes=NODES, x=graph.x + 3, edge_attr=graph.edge_attr)
    if isinstance(pruner, LSP) and pruner.family.learns:
        pruner = pruner.fit(graph)
    options = {"edge_attr": ATTR, "position": "n", "partitions": 3, **options}
    kept = prune_spark(edges, nodes, pruner, **options, hub=80)
    assert kept.schema == edges.schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))


def test_a_hub_that_keeps_more_edges_than_there_are_functions(session, kept_by):
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


def test_weights_beyond_float32_are_compared_and_those_that_are_not_finite_named(session, kept_by):
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
def test_weights_that_float32_cannot_tell_apart_are_compared_exactly(session, graph, weights, kept_by):
    (source, target), weights = graph.ends(), np.random.default_rng(0).permutation(weights)
    table = pa.table({"source": source, "target": target, "n": np.arange(EDGES), "w": weights})
    kept = prune_spark(session.createDataFrame(table), None, TopWeight(k=3), edge_attr="w", position="n", hub=80)
    expected = TopWeight(k=3).mask(Graph.from_edges((source, target), edge_attr=weights))
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(expected))


def test_without_a_position_parallel_edges_may_be_swapped_and_nothing_else(tables, graph, kept_by):
    edges, nodes = tables
    kept = prune_spark(edges, nodes, LSP(keep=0.3), edge_attr=ATTR)
    source, target = graph.ends()
    found, expected = kept_by(kept), np.flatnonzero(LSP(keep=0.3).mask(graph))
    pairs = [sorted(zip(source[some].tolist(), target[some].tolist(), strict=True)) for some in (found, expected)]
    assert pairs[0] == pairs[1]


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
        some = nodes if pruner.needs.neighbour else None
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


@pytest.mark.parametrize(
    ("pruner", "error", "said"),
    [
        (LSP(k=1, symmetric="union"), OptionError, "symmetric must be None"),
        (LSP(k=1, hash="structure"), OptionError, "hash structure looks at the edges around a neighbour"),
        (LSP(k=1, hash="structure", weights="jaccard"), OptionError, "hash structure looks at the edges"),
        (LSP(k=1, hash="identity", weights="auto"), OptionError, "weights auto is chosen by fit"),
        (TopWeight(k=1, weights="degree*labels"), OptionError, "weights labels must be fitted before"),
        (LSP(k=1, hash="codebook"), OptionError, "codebook must be fitted before"),
        (LSP(k=1, hash="auto"), OptionError, "auto must be fitted before"),
        (Jaccard(k=1), OptionError, "jaccard compares the neighbours of both ends"),
        (Random(k=1), OptionError, "random must see the whole graph"),
        (LSP.paper("p", k=1), OptionError, "position must name the column"),
        (First(k=1), OptionError, "position must name the column"),
    ],
    ids=lambda one: name_of(one) if not isinstance(one, (str, type)) else "",
)
def test_what_cannot_be_done_is_refused_at_once(tables, pruner, error, said):
    with pytest.raises(error, match=said):
        prune_spark(*tables, pruner, edge_attr=ATTR)


def test_a_missing_package_is_named(monkeypatch, tables):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"Spark needs pandas: pip install 'lsprune\[spark\]'"):
        prune_spark(*tables, LSP(k=1))


def test_a_worker_that_came_later_without_lsprune_is_one_line_too():
    class Late(Exception):
        __module__ = "pyspark.errors"

    with pytest.raises(MissingDependency, match="must be installed on every worker of Spark") as error, _plainly():
        raise Late("job aborted\nTraceback ...\nModuleNotFoundError: No module named 'lsprune'\n\tat java.X")
    assert "\n" not in str(error.value)


def test_ids_with_gaps(session, graph, kept_by):
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
def test_one_table_of_nodes_means_the_same_in_memory_streamed_and_on_spark(session, graph, tmp_path, numbers, kept_by):
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


@pytest.mark.parametrize(
    "pruner", [LSP(k=2), LSP(keep=0.3, side="out", attributes=("owner", "neighbour")), Identity(), LocalRandom(k=3)]
)
def test_two_kinds_of_nodes_as_in_memory(session, pruner, kept_by):
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
        with pytest.raises(OptionError, match=r"targets \(--targets\) needs --bipartite"):
            prune_spark(edges, sources, pruner, **{**options, "bipartite": None})


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
    assert again.stderr.startswith("error: ") and "exists already" in again.stderr
    wrongs = [(["--source", "s"], "one column 's'"), (["--hash", "structure"], "the edges around a neighbour")]
    wrongs += [(["--id", "key"], "one column 'key'"), (["--target-id", "key"], "--target-id) needs --bipartite")]
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


def test_the_benchmark_of_growth_keeps_on_spark_what_it_keeps_in_memory(session, tmp_path):
    growth = script("growth", run_name="growth")
    for shape in ("one-hub", "clique"):
        (tmp_path / shape).mkdir()
        growth["generate"](tmp_path / shape, shape, 500)
    on_spark = growth["on_spark"](tmp_path / "one-hub", LSP(k=2))
    assert on_spark["kept"] == growth["in_memory"](tmp_path / "one-hub", LSP(k=2))["kept"]
    assert min(on_spark.values()) > 0
    source, target = np.load(tmp_path / "clique" / "edges.npy")
    assert len(set(zip(source.tolist(), target.tolist(), strict=True))) == 500
    assert session.range(3).count() == 3  # the session goes on


WEIGHED = [
    TopWeight(keep=0.3, weights="labels:2*jaccard:0.5*degree:0.5"),
    TopWeight(keep=0.25, weights="jaccard:0.5*similarity*degree:0.5"),
    LSP(k=3, hash="identity", weights="jaccard*edge:1", side="out", self_loops="edge"),
]


@pytest.mark.parametrize("pruner", WEIGHED, ids=name_of)
def test_weights_that_compare_neighbourhoods_keep_what_memory_keeps(tables, graph, kept_by, pruner):
    edges, nodes = tables
    if "Labels" in repr(pruner):  # labels are learned in memory
        pruner = pruner.fit(dataclasses.replace(graph, y=np.arange(NODES) % 3, train_mask=np.arange(NODES) < 30))
    shuffle = {} if pruner.is_fitted else {"broadcast": False}
    kept = prune_spark(edges, nodes, pruner, edge_attr=ATTR, position="n", partitions=2, hub=80, **shuffle)
    assert kept.schema == edges.schema
    np.testing.assert_array_equal(kept_by(kept), np.flatnonzero(pruner.mask(graph)))
