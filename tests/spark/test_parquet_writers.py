"""Parquet of several engines on Spark, and Parquet of Spark elsewhere: the same rows, and the same rows kept."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from parquet_writers import EDGES, NODES, WRITERS, edge_columns, edge_table, write

from lsprune import LSP, Graph
from lsprune.files import read_edges, write_edges
from lsprune.outofcore import prune_stream

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'lsprune[spark]'")

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
PRUNER = LSP(k=3, hash="identity")


def _kept() -> np.ndarray:
    columns = edge_columns()
    ends = np.stack([columns["source"], columns["target"]])
    return np.flatnonzero(PRUNER.mask(Graph.from_edges(ends, num_nodes=NODES)))


@pytest.mark.parametrize("name", [name for name in WRITERS if "text" not in name])
def test_spark_reads_the_same_rows(session, tmp_path, name):
    columns = edge_columns()
    rows = session.read.parquet(str(write(name, tmp_path))).select("n", "source", "target", "weight").toArrow()
    rows = rows.sort_by("n")
    for column in ("n", "source", "target", "weight"):
        np.testing.assert_array_equal(rows[column].to_numpy(), columns[column])


@pytest.mark.parametrize("name", ["polars, uint32, lz4", "duckdb, partitioned"])
def test_spark_keeps_the_rows_that_memory_keeps(session, tmp_path, kept_by, name):
    from lsprune.spark import prune_spark

    edges = session.read.parquet(str(write(name, tmp_path)))
    np.testing.assert_array_equal(kept_by(prune_spark(edges, None, PRUNER, position="n")), _kept())


@pytest.mark.parametrize(
    "options", [{"compression": "zstd"}, {"compression": "snappy", "partitionBy": "part"}], ids=str
)
def test_what_spark_writes_is_read_in_memory_and_streamed(session, tmp_path, options):
    session.createDataFrame(edge_table()).repartition(2).write.parquet(str(tmp_path / "edges"), **options)
    result = prune_stream(tmp_path / "edges", tmp_path / "out", PRUNER)
    kept = [pq.ParquetFile(path).read(columns=["n"])["n"].to_numpy() for path in (tmp_path / "out").rglob("*.parquet")]
    # Parallel edges have equal keys, and the first goes first: Spark has written them in another order.
    columns = edge_columns()
    found, expected = np.concatenate(kept), _kept()
    pairs = [sorted(zip(columns["source"][some], columns["target"][some], strict=True)) for some in (found, expected)]
    assert result.edges == EDGES and pairs[0] == pairs[1]
    file = next((tmp_path / "edges").rglob("*.parquet"))
    read = read_edges(file)
    write_edges(tmp_path / "memory.parquet", read, np.ones(read.graph.num_edges, bool))
    assert pq.ParquetFile(tmp_path / "memory.parquet").read().equals(pq.ParquetFile(file).read())
