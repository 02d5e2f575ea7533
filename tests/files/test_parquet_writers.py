"""Parquet as DuckDB, Polars, pandas and Spark write it: the same graph and the same rows kept, in memory and streamed.

tests/spark/test_parquet_writers.py has the same files on Spark.
"""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from parquet_writers import COLUMNS, EDGES, WRITERS, edge_columns, edge_table, write

from lsprune import LSP, Graph, prune
from lsprune.adapters.tables.text_id_files import read_text_ids
from lsprune.files import open_edges, read_edges, write_edges
from lsprune.outofcore import prune_stream

PRUNER = LSP(k=3, hash="identity")


def _numbers(path) -> np.ndarray:
    """Return the numbers `n` of the rows in a file or folder, in the order of `list_files`."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    return np.concatenate([pq.ParquetFile(file).read(columns=["n"])["n"].to_numpy() for file in files])


@pytest.mark.parametrize("name", WRITERS)
def test_memory_and_stream_keep_the_rows_of_the_arrays(name, tmp_path):
    path = write(name, tmp_path)
    columns = edge_columns()
    streamed = tmp_path / ("streamed" if path.is_dir() else "streamed.parquet")
    order = _numbers(path)
    ends = np.stack([columns["source"], columns["target"]])[:, order]
    expected = order[PRUNER.mask(Graph.from_edges(ends, num_nodes=int(ends.max()) + 1))]
    options = {"map_ids": tmp_path / "ids.parquet"} if "text" in name else {}
    if "text" in name:
        numbers = {value: number for number, value in enumerate(dict.fromkeys(ends.T.reshape(-1).tolist()))}
        numbered = np.vectorize(numbers.get)(ends)
        expected = order[PRUNER.mask(Graph.from_edges(numbered, num_nodes=len(numbers)))]
    result = prune_stream(path, streamed, PRUNER, **options)
    np.testing.assert_array_equal(_numbers(streamed), expected)
    assert (result.edges, result.kept) == (EDGES, expected.size)
    if path.is_dir():
        return
    read = read_text_ids(path) if "text" in name else read_edges(path)
    assert read is not None and read.graph.num_edges == EDGES
    write_edges(tmp_path / "memory.parquet", read, PRUNER.mask(read.graph))
    kept = _numbers(tmp_path / "memory.parquet")
    if "text" in name:  # ids are numbered by their hashes in memory, and in their order of appearance in a stream
        expected = prune(edge_table(text=True), PRUNER)["n"].to_numpy()
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize("name", [name for name in WRITERS if "text" not in name])
def test_attributes_have_the_same_values(name, tmp_path):
    path, columns = write(name, tmp_path), edge_columns()
    order = _numbers(path)
    batches = list(open_edges(path, edge_attr=["weight"]).batches(100, attributes=True))
    np.testing.assert_array_equal(np.concatenate([batch.edge_attr for batch in batches]), columns["weight"][order])
    for end in ("source", "target"):
        found = np.concatenate([getattr(batch, end) for batch in batches])
        np.testing.assert_array_equal(found, columns[end][order])


def test_the_writers_differ_in_what_they_write(tmp_path):
    """The cases cover what engines do: encodings, compressions, pages, types, nulls, row groups."""
    seen: dict[str, set[str]] = {name: set() for name in ("codec", "encoding", "type", "groups")}
    for number, name in enumerate(WRITERS):
        (tmp_path / f"{number}").mkdir()
        path = write(name, tmp_path / f"{number}")
        file = pq.ParquetFile(next(path.rglob("*.parquet")) if path.is_dir() else path)
        column = file.metadata.row_group(0).column(file.schema_arrow.names.index("source"))
        seen["codec"].add(column.compression)
        seen["encoding"] |= set(column.encodings)
        seen["type"].add(str(file.schema_arrow.field("source").type))
        seen["groups"].add("many" if file.metadata.num_row_groups > 1 else "one")
        assert set(file.schema_arrow.names) >= set(COLUMNS) - {"part"}
    assert seen["codec"] >= {"SNAPPY", "ZSTD", "LZ4", "GZIP", "UNCOMPRESSED"}
    assert seen["encoding"] >= {"PLAIN", "RLE_DICTIONARY", "DELTA_BINARY_PACKED"}
    assert seen["type"] >= {"int32", "uint32", "int64"}
    assert seen["groups"] == {"one", "many"}
