"""One Spark session for all tests, and a small graph as tables in it."""

from __future__ import annotations

import os
import shutil
import sys
import warnings

import numpy as np
import pytest

from lsprune import Graph


@pytest.fixture(scope="session")
def session():
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")
    pytest.importorskip("pandas", reason="PySpark needs pandas where it uses Arrow: pip install 'lsprune[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java, which Spark runs on, is not installed")
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


@pytest.fixture(scope="session")
def graph() -> Graph:
    """40 nodes and 900 edges: two hubs, self-loops, parallel edges, equal attributes."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 39, (2, 900))
    big = rng.random((2, 900)) < 0.3
    ends[big] = rng.integers(5, 7, int(big.sum()))
    x = rng.integers(-2, 3, (40, 3)).astype(np.float32)
    attr = np.abs(rng.integers(-2, 3, (900, 2))).astype(np.float32) + 0.5
    return Graph.from_edges(ends, num_nodes=40, x=x, edge_attr=attr)


@pytest.fixture(scope="session")
def tables(session, graph):
    """The edges, with their numbers `n` and attributes `a` and `b`, and the nodes, with attributes `x`."""
    import pyarrow as pa

    source, target = graph.ends()
    number = np.arange(graph.num_edges)
    columns = {"source": source, "target": target, "n": number, "word": [f"e{i}" for i in number]}
    attr = {"a": graph.edge_attr[:, 0], "b": graph.edge_attr[:, 1]}
    edges = session.createDataFrame(pa.table({**columns, **attr})).repartition(3).persist()
    rows = pa.array(graph.x.tolist(), pa.list_(pa.float32()))
    nodes = session.createDataFrame(pa.table({"id": np.arange(graph.num_nodes), "x": rows})).repartition(2).persist()
    return edges, nodes


@pytest.fixture(scope="session")
def kept_by():
    """A function from a table of kept edges to their numbers, in order; each is there once."""

    def numbers(frame, column="n") -> np.ndarray:
        found = frame.toArrow().column(column).to_numpy()
        assert np.unique(found).shape == found.shape
        return np.sort(found)

    return numbers
