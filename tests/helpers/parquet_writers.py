"""One edge list, written as Parquet by several engines and in several ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

NODES, EDGES = 60, 5000
COLUMNS = ("source", "target", "n", "weight", "part")


def edge_columns() -> dict[str, np.ndarray]:
    """Return ends, the number of each edge, a weight and a part of four."""
    rng = np.random.default_rng(0)
    ends = {end: rng.integers(0, NODES, EDGES) for end in ("source", "target")}
    return {**ends, "n": np.arange(EDGES), "weight": rng.random(EDGES), "part": np.arange(EDGES) % 4}


def edge_table(ids: Any = None, text: bool = False) -> pa.Table:
    """Return the columns as a table, with ids of this type, or text."""
    table = pa.table(edge_columns())
    for place, end in enumerate(("source", "target")):
        values = [f"node {i}" for i in table[end].to_pylist()] if text else table[end].cast(ids or pa.int64())
        table = table.set_column(place, end, pa.array(values) if text else values)
    return table


def _arrow(path: Path, *, ids: Any = None, text: bool = False, **options: Any) -> Path:
    pq.write_table(edge_table(ids, text), path / "edges.parquet", **options)
    return path / "edges.parquet"


def _pandas(path: Path, *, kind: str = "int64", text: bool = False, **options: Any) -> Path:
    pandas = pytest.importorskip("pandas")
    frame = edge_table(text=text).to_pandas()
    if not text:
        frame = frame.astype({"source": kind, "target": kind})  # "Int64" may hold nulls, and holds none here
    frame = pandas.concat([frame.iloc[: EDGES // 2], frame.iloc[EDGES // 2 :]])
    frame.to_parquet(path / "edges.parquet", **options)
    return path / "edges.parquet"


def _polars(path: Path, *, ids: Any = None, text: bool = False, partition: bool = False, **options: Any) -> Path:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(edge_table(ids, text))
    if partition:
        frame.write_parquet(path / "edges", partition_by="part", **options)
        return path / "edges"
    frame.write_parquet(path / "edges.parquet", **options)
    return path / "edges.parquet"


def _duckdb(path: Path, *, ids: Any = None, text: bool = False, partition: bool = False, options: str = "") -> Path:
    duckdb = pytest.importorskip("duckdb")
    out = path / ("edges" if partition else "edges.parquet")
    with duckdb.connect() as connection:
        connection.register("edges", edge_table(ids, text))
        by = ", PARTITION_BY (part)" if partition else ""
        connection.execute(f"COPY (SELECT * FROM edges ORDER BY n) TO '{out}' (FORMAT parquet{by}{options})")
    return out


WRITERS: dict[str, Callable[[Path], Path]] = {
    "arrow, data page 2, zstd": lambda path: _arrow(path, data_page_version="2.0", compression="zstd"),
    "arrow, delta encoding": lambda path: _arrow(
        path, use_dictionary=False, column_encoding={"source": "DELTA_BINARY_PACKED", "target": "DELTA_BINARY_PACKED"}
    ),
    "arrow, uint32, lz4, small row groups": lambda path: _arrow(
        path, ids=pa.uint32(), compression="lz4", row_group_size=300
    ),
    "arrow, text, dictionary": lambda path: _arrow(path, text=True, use_dictionary=True),
    "pandas": _pandas,
    "pandas, nullable, gzip": lambda path: _pandas(path, kind="Int64", compression="gzip"),
    "pandas, int32, no compression": lambda path: _pandas(path, kind="int32", compression=None, index=False),
    "pandas, text": lambda path: _pandas(path, text=True),
    "polars": _polars,
    "polars, uint32, lz4": lambda path: _polars(path, ids=pa.uint32(), compression="lz4", row_group_size=700),
    "polars, text": lambda path: _polars(path, text=True),
    "polars, partitioned": lambda path: _polars(path, partition=True),
    "duckdb": _duckdb,
    "duckdb, version 2, zstd, int32": lambda path: _duckdb(
        path, ids=pa.int32(), options=", PARQUET_VERSION V2, COMPRESSION zstd, ROW_GROUP_SIZE 2048"
    ),
    "duckdb, text": lambda path: _duckdb(path, text=True),
    "duckdb, partitioned": lambda path: _duckdb(path, partition=True),
}


def write(name: str, folder: Path) -> Path:
    """Write the edge list as the writer of this name does; return the file or folder."""
    return WRITERS[name](folder)
