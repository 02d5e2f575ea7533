"""Edge lists in Parquet: all columns stay, and what is no edge list is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import MASK, SOURCE, TARGET, pairs, parquet

from lsprune.errors import FormatError, GraphError
from lsprune.files import read_edges, write_edges


def rich_table() -> pa.Table:
    columns = {
        "label": ["a", None, "c", "d", "e"], "src": pa.array(SOURCE, pa.int32()), "dst": pa.array(TARGET, pa.uint8()),
        "w": pa.array([0.5, 1, 2, 3, 4], pa.float32()), "when": pa.array(range(5), pa.timestamp("ms", "UTC")),
        "tags": [["x"], [], None, ["y", "z"], []],
        "v": pa.array([[i, 1.0] for i in range(5)], pa.list_(pa.float32(), 2)),
    }  # fmt: skip
    schema_metadata = {b"made by": b"a test"}
    return pa.table(columns).replace_schema_metadata(schema_metadata)


def test_parquet_keeps_columns_types_and_metadata(tmp_path: Path) -> None:
    pq.write_table(rich_table(), tmp_path / "in.parquet")
    read = read_edges(tmp_path / "in.parquet", edge_attr=["w"])
    assert pairs(read) == list(zip(SOURCE, TARGET, strict=True))
    assert read.graph.edge_attr.tolist() == [0.5, 1, 2, 3, 4]
    write_edges(tmp_path / "out.parquet", read, MASK)
    out = pq.read_table(tmp_path / "out.parquet")
    expected = pq.read_table(tmp_path / "in.parquet").filter(pa.array(MASK))
    assert expected.schema.metadata == {b"made by": b"a test"}
    assert out.equals(expected, check_metadata=True)


def test_parquet_attributes(tmp_path: Path) -> None:
    pq.write_table(rich_table(), tmp_path / "in.parquet")
    several = read_edges(tmp_path / "in.parquet", edge_attr=["v", "w"]).graph.edge_attr
    assert several.tolist() == [[i, 1, w] for i, w in enumerate([0.5, 1, 2, 3, 4])]
    one = read_edges(tmp_path / "in.parquet", edge_attr=["src"]).graph.edge_attr
    assert one.ndim == 1  # one integer column is a category and must stay one
    assert one.dtype == np.int32


def test_parquet_dictionary_ids_and_partition_folder(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    path = tmp_path / "year=2020" / "in.parquet"
    pq.write_table(pa.table({"s": pa.array(SOURCE).dictionary_encode(), "t": TARGET}), path)
    write_edges(tmp_path / "out.parquet", read_edges(path), MASK)
    assert pq.ParquetFile(tmp_path / "out.parquet").schema_arrow.names == ["s", "t"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"source": [0, None], "target": [1, 2]}, {}, "column 'source', row 1: a value is missing"),
        ({"source": [0.0, 1.0], "target": [1, 2]}, {}, r"'source' must be integers, got double \('0.0' at row 0"),
        ({"source": ["x", "y"], "target": [1, 2]}, {}, r"column 'source' must be integers, got string \('x' at row 0"),
        ({"source": [0, 1], "target": [1, -2]}, {}, "column 'target', row 1: ids must be >= 0, got -2"),
        ({"source": [True], "target": [1]}, {}, "column 'source' must be integers, got bool"),
        ({"a": [0], "b": [1]}, {}, "no columns source, target or .*; it has 'a', 'b'"),
        ({"a": [0], "b": [1]}, {"source": "a", "target": "c"}, "no columns a, c for"),
        ({"source": [0], "target": [1]}, {"edge_attr": ["w"]}, "no column 'w'; it has 'source', 'target'"),
        ({"source": [0], "target": [1], "w": ["x"]}, {"edge_attr": ["w"]}, "column 'w' must be numbers, got string"),
        (
            {"source": [0, 1], "target": [1, 0], "w": [[1], [1, 2]]},
            {"edge_attr": ["w"]},
            "'w', row 1: lists must have one",
        ),
        ({"source": [0], "target": [1], "w": [["a"]]}, {"edge_attr": ["w"]}, "column 'w' must be numbers, got string"),
        ({"source": [0], "target": [1]}, {"num_nodes": 1}, r"target ids must be in \[0, 1\), got 1"),
        ({"source": [0], "target": [10**14]}, {}, "column 'target', row 0: id 100000000000000 is far beyond"),
    ],
)
def test_parquet_refused(tmp_path: Path, columns: dict, options: dict, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        read_edges(parquet(tmp_path / "bad.parquet", **columns), **options)
    assert str(tmp_path / "bad.parquet") in str(caught.value)


def test_a_large_id_is_fine_when_it_is_meant(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", source=[0], target=[10**14])
    assert read_edges(path, num_nodes=10**14 + 1).graph.num_nodes == 10**14 + 1


def test_parquet_output_has_checksums_and_damage_is_noticed(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", source=np.arange(5000) * 7919 % 5000, target=np.arange(5000))
    out, bad = tmp_path / "out.parquet", tmp_path / "bad.parquet"
    write_edges(out, read_edges(path), np.ones(5000, bool))
    for at in range(100, 6000, 97):  # without checksums about one in three goes unnoticed
        raw = bytearray(out.read_bytes())
        raw[at] ^= 1
        bad.write_bytes(raw)
        with pytest.raises(FormatError, match="not a readable Parquet file"):
            read_edges(bad)


def test_parquet_text_that_is_no_text(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")
    label = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    with pytest.raises(FormatError, match="not a readable Parquet file .*UTF8"):
        read_edges(parquet(tmp_path / "bad.parquet", source=[0], target=[1], label=label))
