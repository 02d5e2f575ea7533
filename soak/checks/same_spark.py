"""The same edges on Spark, from tables of edges and nodes in several partitions."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lsprune import LSP, Graph
from lsprune.pruners import Pruner
from soak.cases import Options, random_graph, random_pruner
from soak.check import CannotRun, Check, expect
from soak.varied_cases import Case

OPTIONS = Options(nodes=400, edges=3000, streams=True, symmetric=False)  # a job takes seconds, whatever the graph


@cache
def _session() -> Any:
    """Start Spark once, with two tasks at a time."""
    try:
        import pandas  # noqa: F401
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise CannotRun(f"{error.name} is not installed") from None
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise CannotRun("Java, which Spark runs on, is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name, value in {
        "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50", "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }.items():  # fmt: skip
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


def _case(rng: np.random.Generator) -> Case:
    """Return a case of a pruner that Spark takes, fitted where it learns from edges."""
    while (graph := random_graph(rng, OPTIONS)).num_edges == 0:
        pass
    while not _takes(pruner := random_pruner(rng, graph, OPTIONS), graph):
        pass
    mask = pruner.mask(graph, threads=1)
    learns = isinstance(pruner, LSP) and pruner.family.learns
    return Case(graph, pruner.fit(graph) if learns else pruner, mask)


def _takes(pruner: Pruner, graph: Graph) -> bool:
    bare = graph.x is None and graph.edge_attr is None
    lacks = bare and isinstance(pruner, LSP) and pruner.family.needs_attributes
    return pruner.needs.scope == "edge" and not lacks


def _pruned(case: Case, rng: np.random.Generator) -> Any:
    """Return a table of the edges that Spark keeps: their numbers."""
    import pyarrow as pa

    from lsprune.spark import prune_spark

    graph, session = case.graph, _session()
    source, target = graph.ends()
    columns = {"source": source, "target": target, "number": np.arange(graph.num_edges)}
    names = [] if graph.edge_attr is None else [f"a{i}" for i in range(graph.edge_attr.shape[1])]
    columns |= {name: graph.edge_attr[:, i] for i, name in enumerate(names)}
    edges = session.createDataFrame(pa.table(columns)).repartition(2)
    nodes = None
    if graph.x is not None:
        kind = pa.list_(pa.from_numpy_dtype(graph.x.dtype))
        rows = {"id": np.arange(graph.num_nodes), "x": pa.array(graph.x.tolist(), kind)}
        nodes = session.createDataFrame(pa.table(rows))
    hub = int(rng.choice([20, 1 << 22]))  # often there are owners whose edges several tasks share
    kept = prune_spark(edges, nodes, case.pruner, position="number", edge_attr=names, partitions=2, hub=hub)
    return kept.select("number")


def spark(number: int, folder: Path) -> int:
    """Compare the edges that Spark keeps with those that numba keeps."""
    rng = np.random.default_rng([33, number])
    case = _case(rng)
    kept = np.sort(_pruned(case, rng).toArrow().column("number").to_numpy())
    same = np.array_equal(kept, np.flatnonzero(case.mask))
    expect(same, f"Spark: other edges than {case.pruner!r} keeps of {case.graph!r}")
    return 1


CHECKS = (
    Check(
        name="spark", promise="Same bits",
        about="up to 3,000 edges in two tasks; in half of the cases several tasks share hubs",
        run_case=spark, share=3.0, quick_cases=0,
    ),
)  # fmt: skip
