"""A real cluster: a master and workers in processes of their own, of which one dies and one is slow."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lsprune import LSP, Graph

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
pytest.importorskip("pandas", reason="PySpark needs pandas where it uses Arrow: pip install 'lsprune[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java, which Spark runs on, is not installed", allow_module_level=True)
if not Path("/proc/self/stat").exists():
    pytest.skip("the processes of the cluster are found in /proc", allow_module_level=True)

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from standalone_cluster import WAIT_SECONDS, Slowed, StandaloneCluster, members, signal_all, wait_for  # noqa: E402

NODES, EDGES = 300, 20_000
SETTINGS = {
    "spark.executor.memory": "512m", "spark.driver.memory": "512m", "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "4",
    "spark.shuffle.io.retryWait": "100ms",  # what a dead executor had is not waited for
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}  # fmt: skip


def _write_tables(folder: Path) -> Graph:
    """Write edges, in four files, and nodes; return the graph."""
    rng = np.random.default_rng(0)
    ends, x = rng.integers(0, NODES, (2, EDGES)), rng.standard_normal((NODES, 4)).astype(np.float32)
    ends[1, ::4] = 7  # a hub
    (folder / "edges").mkdir()
    table = pa.table({"source": ends[0], "target": ends[1], "n": np.arange(EDGES)})
    for part in range(4):
        pq.write_table(table.slice(part * EDGES // 4, EDGES // 4), folder / "edges" / f"part-{part}.parquet")
    rows = pa.array(x.tolist(), pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": np.arange(NODES), "x": rows}), folder / "nodes.parquet")
    return Graph.from_edges(ends, num_nodes=NODES, x=x)


def _start_command(folder: Path, master: str) -> subprocess.Popen[str]:
    """Start `lsprune spark-prune` on a cluster."""
    settings = " ".join(f"--conf {name}={value}" for name, value in SETTINGS.items())
    paths = os.pathsep.join([str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH", "")])
    places = {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    files = [str(folder / name) for name in ("edges", "out")]
    options = ["--features", str(folder / "nodes.parquet"), "--k", "3", "--position", "n", "--master", master]
    return subprocess.Popen(
        [sys.executable, "-m", "lsprune", "spark-prune", *files, *options, "--partitions", "6", "--shuffle"],
        env={**os.environ, **places, "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def test_a_worker_that_dies_and_one_that_is_slow_change_nothing(tmp_path):
    graph = _write_tables(tmp_path)
    expected = np.flatnonzero(LSP(k=3).mask(graph))
    with StandaloneCluster(tmp_path, workers=3) as cluster:
        dying, slow = cluster.workers[0].pid, cluster.workers[1].pid
        command = _start_command(tmp_path, cluster.url)
        try:
            # The command writes into a folder that it renames at the end: it is there when the selection begins.
            begun, unfinished = f"{tmp_path}: the selection has begun", ".lsprune-*.tmp/content/_temporary"
            wait_for(lambda: list(tmp_path.glob(unfinished)) or command.poll() is not None, begun)
            with Slowed(slow) as slowed:
                wait_for(lambda: members(dying, "python") or command.poll() is not None, "its tasks run on the worker")
                assert command.poll() is None, command.communicate()[1][-2000:]
                signal_all(dying, signal.SIGKILL)
                wait_for(lambda: cluster.alive() == 2, "the master has lost the worker")
                errors = command.communicate(timeout=WAIT_SECONDS)[1]
            assert command.returncode == 0, errors[-2000:]
            assert slowed.pauses > 1
        finally:
            signal_all(command.pid, signal.SIGKILL)
            command.wait(WAIT_SECONDS)
        wait_for(lambda: not members(command.pid), "nothing of the command is left")
    assert cluster.processes() == []
    assert members(dying) == []
    np.testing.assert_array_equal(np.sort(pq.read_table(tmp_path / "out")["n"].to_numpy()), expected)
    assert not list(tmp_path.glob(".lsprune-*"))
