"""Run by tests/test_scale_spark.py: prune on two executor processes, of which one is killed while it selects."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from lsprune import LSP, Graph
from lsprune.spark import prune_spark

FOLDER = Path(sys.argv[1])
MARKER = FOLDER / "killed"
BRISK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a short run spends most of its time on compiling otherwise


def kill_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches as they are; the first task that gets here takes its whole executor with it, once in all."""
    for batch in batches:
        yield batch
        try:
            os.close(os.open(MARKER, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        victim = executor()
        MARKER.write_text(str(victim))
        os.kill(victim, signal.SIGKILL)


def executor() -> int:
    """The process id of the nearest Java process above this one."""
    process = os.getpid()
    while Path(f"/proc/{process}/comm").read_text().strip() != "java":
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process


def main() -> None:
    rng = np.random.default_rng(0)
    ends, x = rng.integers(0, 200, (2, 5000)), rng.standard_normal((200, 4)).astype(np.float32)
    ends[1, :1500] = 7  # a hub
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.extraJavaOptions", BRISK)
        .config("spark.executor.extraJavaOptions", BRISK)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.shuffle.io.retryWait", "100ms")  # what a dead executor had is not waited for
        .getOrCreate()
    )
    table = pa.table({"source": ends[0], "target": ends[1], "n": np.arange(5000)})
    edges = session.createDataFrame(table).repartition(4)
    nodes = session.createDataFrame(pa.table({"id": np.arange(200), "x": pa.array(x.tolist(), pa.list_(pa.float32()))}))
    graph = Graph.from_edges(ends, num_nodes=200, x=x)
    pruner = LSP(k=3).fit(graph)
    kept = prune_spark(edges, nodes, pruner, position="n", partitions=4, hub=1000, broadcast=False)
    found = kept.mapInArrow(kill_once, kept.schema).toArrow().column("n").to_numpy()
    expected = np.flatnonzero(pruner.mask(graph))
    driver = int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    said = {"found": found.tolist(), "expected": expected.tolist(), "driver": driver, "killed": int(MARKER.read_text())}
    (FOLDER / "said.json").write_text(json.dumps(said))
    session.stop()


if __name__ == "__main__":
    main()
