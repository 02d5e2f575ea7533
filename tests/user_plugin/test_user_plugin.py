"""A user's own family, weight, baseline and adapter work wherever ours do, without touching our code.

The package beside this file imports public names only. It is installed in the tests as a package with an entry point.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lsprune
from lsprune import LSP, Graph, GraphError, OptionError, prune, pruner
from lsprune.outofcore import prune_stream

PACKAGE = Path(__file__).with_name("package")
NAMES = {"family": "rounded", "weight": "recent", "pruner": "nearest-id", "adapter": "edge-table"}
NODES, EDGES = 60, 900

PRUNERS = {
    "family": lambda: LSP(k=3, hash="rounded:digits=0"),
    "family with keep": lambda: LSP(keep=0.3, hash="rounded"),
    "weight": lambda: LSP(k=3, hash="identity", weights="recent:power=3"),
    "family and weight": lambda: LSP(keep=0.25, hash="rounded", weights="recent"),
    "pruner": lambda: pruner("nearest-id", k=3),
    "pruner with options": lambda: pruner("nearest-id:wrap=60", keep=0.2),
}


@pytest.fixture(scope="module")
def mine():
    """The user's package, imported as in a notebook; afterwards its names are forgotten."""
    sys.path.insert(0, str(PACKAGE))
    try:
        yield __import__("my_pruning")
    finally:
        sys.path.remove(str(PACKAGE))
        sys.modules.pop("my_pruning")
        for kind, registry in (("family", lsprune.FAMILIES), ("weight", lsprune.WEIGHTS), ("pruner", lsprune.PRUNERS)):
            registry.remove(NAMES[kind])
        from lsprune.plugins import ADAPTERS

        ADAPTERS.remove(NAMES["adapter"])


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(0)
    ends = random.integers(0, NODES, (2, EDGES))
    edges = pa.table({"source": ends[0], "target": ends[1], "age": random.random(EDGES).astype(np.float32) + 0.01,
                      "n": np.arange(EDGES)})  # fmt: skip
    x = random.standard_normal((NODES, 4)).astype(np.float32)
    return edges, x


def graph_of(tables) -> Graph:
    edges, x = tables
    ends = np.stack([edges["source"].to_numpy(), edges["target"].to_numpy()])
    return Graph.from_edges(ends, num_nodes=NODES, x=x, edge_attr=edges["age"].to_numpy()[:, None])


def installed(folder: Path) -> dict[str, str]:
    """An environment in which the user's package is installed, with its entry point."""
    info = folder / "my_pruning-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-pruning\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lsprune.plugins]\nmine = my_pruning\n")
    (folder / "my_pruning.py").write_text((PACKAGE / "my_pruning.py").read_text())
    path = os.pathsep.join([str(folder), str(Path(lsprune.__file__).parents[1])])
    return {**os.environ, "PYTHONPATH": path}


def test_only_public_names_are_imported():
    tree = ast.parse((PACKAGE / "my_pruning.py").read_text())
    ours = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module.startswith("lsprune")]
    public = __import__("lsprune.plugins", fromlist=["x"]).__all__
    assert ours
    assert {node.module for node in ours} <= {"lsprune", "lsprune.plugins"}
    assert {alias.name for node in ours for alias in node.names} <= set(public)


@pytest.mark.parametrize("name", PRUNERS)
def test_in_memory_saved_and_explained(mine, tables, tmp_path, name):
    graph, chosen = graph_of(tables), PRUNERS[name]()
    mask = chosen.mask(graph)
    assert 0 < mask.sum() < mask.size
    np.testing.assert_array_equal(chosen.mask(graph, executor="reference"), mask)
    np.testing.assert_array_equal(chosen.mask(graph, threads=3), mask)
    assert lsprune.PRUNERS.find(chosen.name).from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen
    chosen.fit(graph).save(tmp_path / "mine.npz")
    np.testing.assert_array_equal(lsprune.load(tmp_path / "mine.npz").mask(graph), mask)
    node = int(np.argmax(np.bincount(graph.ends()[1])))
    told = lsprune.explain(graph, chosen, node)
    assert [reason.kept for reason in told.edges] == [bool(mask[reason.edge]) for reason in told.edges]


def test_the_baseline_keeps_what_it_says(mine, tables):
    graph = graph_of(tables)
    source, target = graph.ends()
    mask = pruner("nearest-id", k=2).mask(graph)
    for node in range(NODES):
        own = (target == node) & (source != target)
        kept, left = np.abs(source - target)[own & mask], np.abs(source - target)[own & ~mask]
        assert kept.size == min(2, own.sum())
        assert not left.size or kept.max() <= left.min()


def test_the_weight_prefers_what_it_says(mine, tables):
    graph = graph_of(tables)
    ages = graph.edge_attr[:, 0]
    means = [ages[LSP(keep=0.3, hash="identity", weights=f"recent:power={p}").mask(graph)].mean() for p in (0, 1, 8)]
    assert means[0] < means[1] < means[2]


@pytest.mark.parametrize("order", ["as they are", "sorted by target"])
@pytest.mark.parametrize("name", PRUNERS)
def test_streamed_under_a_memory_ceiling(mine, tables, tmp_path, name, order):
    edges, x = tables
    if order == "sorted by target":
        edges = edges.take(pa.array(np.argsort(edges["target"].to_numpy(), kind="stable")))
    pq.write_table(edges, tmp_path / "in.parquet")
    np.save(tmp_path / "x.npy", x)
    prune_stream(
        tmp_path / "in.parquet", tmp_path / "out.parquet", PRUNERS[name](), features=tmp_path / "x.npy",
        edge_attr=["age"], memory="6GB", num_nodes=NODES,
    )  # fmt: skip
    mask = PRUNERS[name]().mask(graph_of((edges, x)))
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == edges["n"].filter(pa.array(mask)).to_pylist()


def test_what_does_not_fit_under_the_ceiling_is_refused(mine, tables, tmp_path):
    pq.write_table(tables[0], tmp_path / "in.parquet")
    with pytest.raises(OptionError, match="memory must be at least"):
        prune_stream(tmp_path / "in.parquet", tmp_path / "out.parquet", pruner("nearest-id", k=3), memory="1MB")


def test_adapter(mine, tables):
    graph = graph_of(tables)
    table = mine.EdgeTable(list(zip(*map(np.ndarray.tolist, graph.ends()), strict=True)), graph.x_source)
    bare = Graph.from_edges(np.stack(graph.ends()), num_nodes=NODES, x=graph.x_source)
    small = prune(table, LSP(k=3))
    assert isinstance(small, mine.EdgeTable)
    mask = LSP(k=3).mask(bare)
    assert small.edges == [edge for edge, keep in zip(table.edges, mask, strict=True) if keep]
    np.testing.assert_array_equal(LSP(k=3).mask(table), mask)
    with pytest.raises(GraphError, match="accepted are .*an EdgeTable"):
        prune(object(), LSP(k=3))


def test_names_are_taken_once(mine):
    class Other(mine.Recent):
        pass

    with pytest.raises(OptionError, match="the name 'recent' of Other is taken"):
        lsprune.register(Other)
    assert lsprune.register(mine.Recent) is mine.Recent
    with pytest.raises(OptionError, match="register takes classes derived from"):
        lsprune.register(int)


COMMANDS = {
    "family": ["--hash", "rounded:digits=0", "--k", "3"],
    "family and weight": ["--hash", "rounded", "--weights", "recent", "--keep", "0.25"],
    "pruner": ["--pruner", "nearest-id", "--k", "3"],
    "pruner with options": ["--pruner", "nearest-id:wrap=60", "--keep", "0.2"],
}


@pytest.mark.parametrize("stream", [[], ["--stream", "--memory", "3GB"]])
@pytest.mark.parametrize("name", COMMANDS)
def test_from_the_command_line_by_an_entry_point(mine, tables, tmp_path, name, stream):
    edges, x = tables
    pq.write_table(edges, tmp_path / "in.parquet")
    np.save(tmp_path / "x.npy", x)
    command = ["prune", "in.parquet", "out.parquet", "--features", "x.npy", "--edge-attr", "age", *COMMANDS[name]]
    done = subprocess.run(
        [sys.executable, "-m", "lsprune", *command, *stream, "--num-nodes", str(NODES), "--json"],
        cwd=tmp_path, env=installed(tmp_path / "site"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    mask = PRUNERS[name]().mask(graph_of(tables))
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == np.flatnonzero(mask).tolist()


def test_methods_list_plugins(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lsprune", "methods", "--json"],
        env=installed(tmp_path / "site"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    listed = json.loads(done.stdout)
    assert listed["hash families"]["rounded"]["options"] == {"digits": 1}
    assert listed["edge weights"]["recent"]["about"] == "prefer edges with a large first attribute"
    assert listed["pruners"]["nearest-id"]["options"] == {"wrap": 0}


def test_without_the_plugin_the_name_is_not_known(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import lsprune; lsprune.pruner('nearest-id', k=3)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "pruner must be one of lsp, " in done.stderr.splitlines()[-1]


SPARK = """
import json, sys
from pyspark.sql import SparkSession
from lsprune import LSP, pruner
from lsprune.spark import prune_spark

session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
    "spark.log.level", "OFF").config("spark.sql.shuffle.partitions", "2").getOrCreate()
edges, nodes = session.read.parquet("in.parquet").repartition(3), session.read.parquet("nodes.parquet")
kept = {}
for name, chosen in {
    "family": LSP(k=3, hash="rounded:digits=0"),
    "weight": LSP(k=3, hash="identity", weights="recent:power=3"),
    "family and weight": LSP(keep=0.25, hash="rounded", weights="recent"),
    "pruner": pruner("nearest-id", k=3),
}.items():
    frame = prune_spark(edges, nodes, chosen, edge_attr=["age"], features="x")
    kept[name] = sorted([row["source"], row["target"]] for row in frame.select("source", "target").collect())
print(json.dumps(kept))
"""


def test_on_spark(mine, tables, tmp_path):
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java, which Spark runs on, is not installed")
    edges, x = tables
    pq.write_table(edges, tmp_path / "in.parquet")
    pq.write_table(pa.table({"id": np.arange(NODES), "x": x.tolist()}), tmp_path / "nodes.parquet")
    (tmp_path / "job.py").write_text(SPARK)
    env = {**installed(tmp_path / "site"), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kept, graph = json.loads(done.stdout), graph_of(tables)
    ends = np.stack(graph.ends(), axis=1)  # parallel edges with equal keys may stand in for each other
    assert kept == {name: sorted(ends[PRUNERS[name]().mask(graph)].tolist()) for name in kept}


STUDY = """
title = "A user's own pruners"
dataset = "synthetic-small"
model = "synthetic-gat-small"
k = [2]
seeds = 1
epochs = 1
methods = [
    "unpruned",
    { name = "rounded", pruner = "lsp", hash = "rounded:digits=0" },
    { name = "nearest", pruner = "nearest-id", wrap = 9 },
]
"""


def test_in_a_study(tmp_path):
    pytest.importorskip("torch_geometric")
    (tmp_path / "mine.toml").write_text(STUDY)
    command = ["study", "run", "mine.toml", "--smoke", "--out", "results", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "lsprune", *command],
        cwd=tmp_path, env=installed(tmp_path / "site"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "results" / "mine-smoke.jsonl").read_text().splitlines()]
    used = {line["run"]["method"]: line["pruner"] for line in lines}
    assert used["unpruned"] is None
    assert used["rounded"]["hash"] == {"name": "rounded", "digits": 0}
    assert used["nearest"]["pruner"] == "nearest-id"
    assert used["nearest"]["wrap"] == 9
