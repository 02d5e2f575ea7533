"""Edge lists in Parquet: all columns stay, and what is no edge list is refused."""

from __future__ import annotations

import decimal
import gc
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import EDGES, MASK, SOURCE, TARGET, names, pairs, parquet
from scale_helpers import asked, together, write_all

from lsprune.errors import FormatError, GraphError
from lsprune.files import open_edges, read_edges, write_edges


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
        ({"source": [0, None], "target": [1, 2]}, {}, "column 'source', row 1 \\(row group 0\\): a value is missing"),
        ({"source": [0.0, 1.0], "target": [1, 2]}, {}, r"'source' must be integers, got double \('0.0' at row 0"),
        ({"source": ["x", "y"], "target": [1, 2]}, {}, r"column 'source' must be integers, got string \('x' at row 0"),
        ({"source": [0, 1], "target": [1, -2]}, {}, r"'target', row 1 \(row group 0\): ids must be >= 0, got -2"),
        ({"source": [True], "target": [1]}, {}, "column 'source' must be integers, got bool"),
        ({"a": [0], "b": [1]}, {}, "no columns source, target or .*; it has 'a', 'b'"),
        ({"a": [0], "b": [1]}, {"source": "a", "target": "c"}, "no columns a, c for"),
        ({"source": [0], "target": [1]}, {"edge_attr": ["w"]}, "no column 'w'; it has 'source', 'target'"),
        ({"source": [0], "target": [1], "w": ["x"]}, {"edge_attr": ["w"]}, "column 'w' must be numbers, got string"),
        (
            {"source": [0, 1], "target": [1, 0], "w": [[1], [1, 2]]},
            {"edge_attr": ["w"]},
            "'w', row 1 \\(row group 0\\): lists must have one",
        ),
        ({"source": [0], "target": [1], "w": [["a"]]}, {"edge_attr": ["w"]}, "column 'w' must be numbers, got string"),
        ({"source": [0], "target": [1]}, {"num_nodes": 1}, r"'target', row 0 .*: ids must be in \[0, 1\), got 1"),
        ({"source": [0], "target": [10**14]}, {}, r"'target', row 0 \(row group 0\): id 100000000000000 is far"),
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


def streamed_table(count: int) -> pa.Table:
    numbers = np.arange(count)
    columns = {
        "label": [None if i % 5 == 1 else f"l{i}" for i in range(count)],
        "src": pa.array(numbers % 7, pa.int32()), "dst": pa.array(numbers % 5, pa.uint8()),
        "w": pa.array(numbers / 2, pa.float32()), "when": pa.array(numbers, pa.timestamp("ms", "UTC")),
        "tags": [["x"] * (i % 3) if i % 4 else None for i in range(count)],
        "v": pa.array([[i, 1.0] for i in range(count)], pa.list_(pa.float32(), 2)),
        "kind": pa.array([f"k{i % 3}" for i in range(count)]).dictionary_encode(),
        "cost": pa.array([decimal.Decimal(i) / 4 for i in range(count)], pa.decimal128(9, 2)),
        "deep": [{"a": i, "b": [{"c": str(i)}]} for i in range(count)],
    }  # fmt: skip
    return pa.table(columns).replace_schema_metadata({b"made by": b"a test"})


@pytest.mark.parametrize("codec", ["snappy", "zstd", "gzip", "none"])
@pytest.mark.parametrize("rows", [1, 20, 1000])
def test_columns_types_metadata_and_compression_stay(tmp_path: Path, codec: str, rows: int) -> None:
    pq.write_table(streamed_table(50), tmp_path / "in.parquet", row_group_size=13, compression=codec)
    files = open_edges(tmp_path / "in.parquet", edge_attr=["v", "w"])
    mask = np.arange(50) % 3 != 1
    write_all(files, tmp_path / "out.parquet", mask, rows)
    out = pq.ParquetFile(tmp_path / "out.parquet")
    table = pq.ParquetFile(tmp_path / "in.parquet").read()
    assert table.schema.metadata == {b"made by": b"a test"}
    assert out.read().equals(table.filter(pa.array(mask)), check_metadata=True)
    used = {out.metadata.row_group(0).column(c).compression for c in range(out.metadata.num_columns)}
    assert used == {{"none": "UNCOMPRESSED"}.get(codec, codec.upper())}
    assert max(out.metadata.row_group(g).num_rows for g in range(out.num_row_groups)) <= max(1, rows // 3)


def encodings(path: Path) -> list[tuple[str, str, bool, str]]:
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(c) for c in range(group.num_columns)]
    return [(c.path_in_schema, c.compression, c.has_dictionary_page, c.physical_type) for c in columns]


def test_encodings_follow_the_input(tmp_path: Path) -> None:
    numbers = np.arange(900)
    columns = {"s": numbers % 3, "t": numbers % 3, "when": pa.array(numbers, pa.timestamp("ns"))}
    pq.write_table(
        pa.table(columns), tmp_path / "in.parquet", use_dictionary=["t"], compression={"s": "ZSTD", "t": "NONE"},
        use_deprecated_int96_timestamps=True,
    )  # fmt: skip
    write_all(open_edges(tmp_path / "in.parquet"), tmp_path / "out.parquet", np.ones(900, bool), 10_000)
    assert encodings(tmp_path / "out.parquet") == encodings(tmp_path / "in.parquet")
    assert [shown[2:] for shown in encodings(tmp_path / "out.parquet")] == [
        (False, "INT64"), (True, "INT64"), (False, "INT96"),
    ]  # fmt: skip


def test_a_dictionary_that_saved_nothing_is_not_tried_again(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", s=np.arange(900), t=np.arange(900))
    assert [shown[2] for shown in encodings(path)] == [True, True]
    write_all(open_edges(path), tmp_path / "out.parquet", np.ones(900, bool), 10_000)
    assert [shown[2] for shown in encodings(tmp_path / "out.parquet")] == [False, False]


def test_batches_larger_than_a_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsprune.files.parquet._GROUP_ROWS", 4)
    pq.write_table(streamed_table(50), tmp_path / "in.parquet", row_group_size=30)
    mask = np.arange(50) != 7
    write_all(open_edges(tmp_path / "in.parquet"), tmp_path / "out.parquet", mask, 60)
    out = pq.ParquetFile(tmp_path / "out.parquet")
    assert out.read().equals(pq.ParquetFile(tmp_path / "in.parquet").read().filter(pa.array(mask)))
    assert [out.metadata.row_group(g).num_rows for g in range(out.num_row_groups)] == [4] * 12 + [1]


def test_the_size_of_batches_does_not_show_in_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsprune.files.parquet._GROUP_ROWS", 10)
    pq.write_table(streamed_table(50), tmp_path / "in.parquet", row_group_size=13)
    files, mask = open_edges(tmp_path / "in.parquet"), np.arange(50) % 2 == 0
    made = [write_all(files, tmp_path / "out.parquet", mask, rows).read_bytes() for rows in (30, 33, 100, 10_000)]
    assert made == made[:1] * 4
    groups = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert [groups.row_group(g).num_rows for g in range(groups.num_row_groups)] == [10, 10, 5]


@pytest.mark.parametrize(
    ("source", "target", "dtype"),
    [("int32", "int32", "i4"), ("int8", "uint16", "i4"), ("int32", "int64", "i8"), ("uint32", "int32", "i8")],
)
def test_one_type_for_all_ids(tmp_path: Path, source: str, target: str, dtype: str) -> None:
    path = parquet(tmp_path / "in.parquet", s=pa.array(SOURCE, source), t=pa.array(TARGET, target).dictionary_encode())
    files = open_edges(path)
    assert files.dtype == np.dtype(dtype)
    assert np.array_equal(together(files, 2)[:2], EDGES)


def test_attributes_as_in_memory(tmp_path: Path) -> None:
    pq.write_table(streamed_table(20), tmp_path / "in.parquet", row_group_size=6)
    files = open_edges(tmp_path / "in.parquet", edge_attr=["v", "w"])
    assert (files.attr_shape, files.attr_dtype) == ((3,), np.float32)
    assert together(files, 4, attributes=True)[2].tolist() == [[i, 1, i / 2] for i in range(20)]
    one = open_edges(tmp_path / "in.parquet", edge_attr=["src"])
    assert (one.attr_shape, one.attr_dtype) == ((), np.int32)
    assert one.row_bytes >= 4 + 1 + 4 + 8 + 8


def grouped(path: Path, source: object, target: object = None) -> Path:
    target = list(range(len(source))) if target is None else target
    pq.write_table(pa.table({"source": source, "target": target}), path, row_group_size=2)
    return path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([0, 1, 2, None, 4], r"column 'source', row 3 \(row group 1\): a value is missing"),
        ([0, 1, 2, 3, -4], r"column 'source', row 4 \(row group 2\): ids must be >= 0, got -4"),
        ([0, 1, 9, 3, 4], r"column 'source', row 2 \(row group 1\): ids must be in \[0, 9\), got 9"),
        (list("abcde"), r"'source' must be integers, got string \('a' at row 0 .*--map-ids .* numbers such ids"),
        ([0.0, 1, 2, 3, 4], r"column 'source' must be integers, got double"),
    ],
)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_ids_refused_by_file_row_group_and_row(tmp_path: Path, source: list, message: str, rows: int) -> None:
    (tmp_path / "in").mkdir()
    bad = grouped(tmp_path / "in" / "b.parquet", source)
    if isinstance(source[0], int):
        grouped(tmp_path / "in" / "a.parquet", [0, 0, 0])
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        together(open_edges(tmp_path / "in", num_nodes=9), rows)
    assert str(caught.value).startswith(f"{bad}: ")


def test_damaged_pages_are_named_by_row_group(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"s": np.arange(4000), "t": np.arange(4000), "label": [f"name {i}" for i in range(4000)]})
    pq.write_table(table, path, row_group_size=1000, write_page_checksum=True, use_dictionary=False)
    column = pq.ParquetFile(path).metadata.row_group(2).column(1)
    raw = bytearray(path.read_bytes())
    raw[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(raw)
    for rows in (300, 10_000):
        with pytest.raises(FormatError, match=r"a\.parquet: row group 2: not a readable Parquet file \(.*checksum"):
            together(open_edges(path), rows)
        files = open_edges(path)
        with pytest.raises(FormatError, match=r"row group 2: not a readable"):
            files.write_shard(files.shards[0], io.BytesIO(), asked(np.ones(4000, bool)), rows)
    assert names(tmp_path) == ["a.parquet"]


def test_text_that_is_no_text_is_found_when_it_is_opened(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")
    label = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    path = parquet(tmp_path / "bad.parquet", source=[0], target=[1], label=label)
    with pytest.raises(FormatError, match="not a readable Parquet file .*UTF8"):
        open_edges(path)


def test_a_file_changed_while_it_was_read(tmp_path: Path) -> None:
    path = grouped(tmp_path / "a.parquet", [0, 1, 2])
    files = open_edges(path)
    grouped(path, [0, 1])
    with pytest.raises(FormatError, match="had 3 rows and has 2 now"):
        together(files, 10)


def test_streamed_output_has_checksums(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", source=np.arange(5000) * 7919 % 5000, target=np.arange(5000))
    out, bad = tmp_path / "out.parquet", tmp_path / "bad.parquet"
    write_all(open_edges(path), out, np.ones(5000, bool), 100_000)
    for at in range(100, 6000, 997):  # without checksums about one in three goes unnoticed
        raw = bytearray(out.read_bytes())
        raw[at] ^= 1
        bad.write_bytes(raw)
        with pytest.raises(FormatError, match="not a readable Parquet file"):
            together(open_edges(bad), 1000)


def test_a_full_disk_is_the_systems_error(tmp_path: Path) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            if self.tell() > 2000:
                raise OSError(28, "No space left on device")
            return super().write(data)

    path = parquet(tmp_path / "in.parquet", source=np.arange(5000) * 7919 % 5000, target=np.arange(5000))
    files = open_edges(path)
    with pytest.raises(OSError, match="No space left"):
        files.write_shard(files.shards[0], Full(), asked(np.ones(5000, bool)), 900)
    gc.collect()  # a writer given up must not write a footer from its finaliser
