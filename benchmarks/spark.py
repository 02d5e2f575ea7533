"""Pruning on Spark local[2] against memory: Parquet in, Parquet out. Cost per edge should not grow with the graph."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from common import THREADS, line
from graphs import features, power_law
from lsprune import LSP
from lsprune.baselines import TopWeight
from lsprune.files import read_edges, write_edges
from lsprune.pruners import Pruner
from lsprune.spark import prune_spark

DIM, K = 32, 8
FILES = 8  # an edge table is in so many files
WARM_UP = 100_000  # edges at most


def tables(folder: Path, edges: int, nodes: int) -> None:
    """Write edges/*.parquet, nodes.parquet (id, x) and, for memory, x.npy and edges.parquet."""
    ends, x = power_law(edges, nodes), features(nodes, DIM)
    (folder / "edges").mkdir()
    for part, some in enumerate(np.array_split(np.arange(ends.shape[1]), FILES)):
        table = pa.table({"source": ends[0, some], "target": ends[1, some]})
        pq.write_table(table, folder / "edges" / f"part-{part}.parquet")
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), folder / "edges.parquet")
    rows = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), DIM).cast(pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": np.arange(nodes), "x": rows}), folder / "nodes.parquet", row_group_size=1 << 17)
    np.save(folder / "x.npy", x)


def made(weights: str | None, folder: Path) -> Pruner:
    """Return the pruner; labels (the place of the largest feature) are learned before, from 1 % of the nodes."""
    if weights is None:
        return LSP(k=K)
    pruner = TopWeight(k=K, weights=weights)
    if "labels" not in weights:
        return pruner
    graph = read_edges(folder / "edges.parquet", features=folder / "x.npy").graph
    y = np.asarray(graph.x).argmax(axis=1)
    return pruner.fit(replace(graph, y=y, train_mask=np.arange(y.size) % 100 == 0), threads=THREADS)


def in_memory(folder: Path, pruner: Pruner) -> int:
    """Number of edges kept."""
    read = read_edges(folder / "edges.parquet", features=folder / "x.npy")
    mask = pruner.mask(read.graph, threads=THREADS)
    write_edges(folder / "kept.parquet", read, mask)
    return int(mask.sum())


def on_spark(session: SparkSession, folder: Path, pruner: Pruner, broadcast: bool | None) -> int:
    """Number of edges kept."""
    edges, nodes = (session.read.parquet(str(folder / name)) for name in ("edges", "nodes.parquet"))
    kept = prune_spark(edges, nodes, pruner, broadcast=broadcast)
    kept.write.parquet(str(folder / "kept"), mode="overwrite")
    return int(sum(pq.ParquetFile(one).metadata.num_rows for one in (folder / "kept").glob("*.parquet")))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def shuffled(session: SparkSession) -> int:
    """Bytes written by all shuffles so far."""
    context = session.sparkContext
    nothing = context._gateway.new_array(context._gateway.jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(None, False, False, nothing, None)
    return sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))


def measure(session: SparkSession, edges: int, broadcast: bool | None, weights: str | None = None) -> None:
    """Print the figures for one size."""
    folder = Path(tempfile.mkdtemp(prefix="lsprune-spark-"))
    try:
        nodes = edges // 10
        tables(folder, edges, nodes)
        pruner = made(weights, folder)
        memory, expected = timed(lambda: in_memory(folder, pruner))
        before = shuffled(session)
        spark, kept = timed(lambda: on_spark(session, folder, pruner, broadcast))
        moved = shuffled(session) - before
        assert kept == expected, f"Spark kept {kept} edges, memory {expected}"
    finally:
        shutil.rmtree(folder)
    sizes = f"{edges:,} edges, {nodes:,} nodes, d={DIM}, k={K}" + (f", {weights}" if weights else "")
    print(f"\n## Spark local[2], {sizes}; fit, prune, Parquet to Parquet")
    line("Spark", f"{spark:.1f} s", f"{edges / spark / 1e3:,.0f} k edges/s")
    line("Spark, cost of an edge", f"{spark / edges * 1e6:.2f} us")
    line("Spark, shuffled", f"{moved / edges:.1f} B/edge")
    line("memory", f"{memory:.1f} s", f"{edges / memory / 1e3:,.0f} k edges/s")
    line("Spark / memory", f"{spark / memory:.1f}x")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures of every size asked for; a session that runs already is used and goes on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--join", choices=["auto", "broadcast", "shuffle"], default="auto")
    parser.add_argument("--weights", help="keep the edges of largest weight instead, such as jaccard*degree")
    parser.add_argument("--memory", default="8g", help="of the Java process")
    given = parser.parse_args(argv)
    running = SparkSession.getActiveSession()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", given.memory)
    session = running or builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    broadcast = {"auto": None, "broadcast": True, "shuffle": False}[given.join]
    measure(session, min(WARM_UP, *given.edges), broadcast, given.weights)  # compiled and warm
    for edges in given.edges:
        measure(session, edges, broadcast, given.weights)
    if running is None:
        session.stop()


if __name__ == "__main__":
    main()
