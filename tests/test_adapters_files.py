"""Edge lists in files: what is read, what is kept, what is refused, and that nothing is ever half written."""

from __future__ import annotations

import gzip
import os
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.adapters.files import FileGraph, check_output, read_edges, write_edges
from lsprune.errors import FormatError, GraphError, LspruneError, OptionError

SOURCE, TARGET = np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0, 2, 1])
EDGES = np.stack([SOURCE, TARGET])
MASK = np.array([True, False, True, True, False])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)
    return path


def parquet(path: Path, **columns: object) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def text(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def kept(read: FileGraph, out: Path, mask: np.ndarray = MASK) -> FileGraph:
    write_edges(out, read, mask)
    return read_edges(out)


def pairs(read: FileGraph) -> list[tuple[int, int]]:
    return list(zip(*(end.tolist() for end in read.graph.ends()), strict=True))


EXPECTED = [(0, 1), (2, 0), (2, 2)]


def test_npz_attributes_named_by_the_caller_are_cut_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", source=EDGES[0], target=EDGES[1], weight=np.arange(5.0))
    write_edges(tmp_path / "out.npz", read_edges(tmp_path / "in.npz", edge_attr=["weight"]), MASK)
    with np.load(tmp_path / "out.npz") as out:
        assert out["weight"].tolist() == np.arange(5.0)[MASK].tolist()


def test_npz_edge_arrays_of_another_length_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", edge_index=EDGES, edge_time=np.arange(4))
    with pytest.raises(FormatError, match=r"edge_time must have one entry for each of the 5 edges, got \[4\]"):
        read_edges(tmp_path / "in.npz")


def test_npz_other_ends_leave_a_second_edge_index_alone(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", a=EDGES[0], b=EDGES[1], edge_index=np.zeros((2, 9), int), indptr=np.arange(3))
    write_edges(tmp_path / "out.npz", read_edges(tmp_path / "in.npz", source="a", target="b"), MASK)
    with np.load(tmp_path / "out.npz") as out:
        assert (out["a"].size, out["edge_index"].shape, out["indptr"].size) == (3, (2, 9), 3)


def test_features_with_too_few_rows_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", edge_index=EDGES)
    np.save(tmp_path / "x.npy", np.ones((2, 3)))
    with pytest.raises(FormatError, match=r"x.npy: has 2 rows, but the edges name node \d"):
        read_edges(tmp_path / "in.npz", features=tmp_path / "x.npy")


# --- npz -------------------------------------------------------------------------------------------------------------


def test_npz_edge_index_carries_the_other_arrays(tmp_path: Path) -> None:
    arrays = {
        "edge_index": EDGES.astype(np.int32), "x": np.eye(6), "edge_attr": np.arange(10.0).reshape(5, 2),
        "edge_weight": np.arange(5), "edge_label": np.arange(5), "edge_label_index": np.arange(5),
        "other_edge": np.arange(4), "y": np.arange(5), "num_nodes": np.array(6), "file": np.array(["a", "b"]),
    }  # fmt: skip
    path = tmp_path / "in.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array)
    read = read_edges(path)
    assert (read.graph.num_nodes, read.graph.num_edges) == (6, 5)
    assert np.array_equal(read.graph.x, np.eye(6))
    assert np.array_equal(read.graph.edge_attr, arrays["edge_attr"])
    write_edges(tmp_path / "out.npz", read, MASK)
    with np.load(tmp_path / "out.npz") as out:
        assert list(out) == list(arrays)
        assert out["edge_index"].dtype == np.int32
        for name, array in arrays.items():
            masked = name in ("edge_attr", "edge_weight")
            assert np.array_equal(
                out[name], array[MASK] if masked else array[:, MASK] if name == "edge_index" else array
            )


def test_npz_source_and_target_under_any_name(tmp_path: Path) -> None:
    for ends in (("source", "target"), ("src", "dst"), ("s", "t"), ("from", "to")):
        read = read_edges(save(tmp_path / "in.npz", **dict(zip(ends, EDGES, strict=True))))
        assert pairs(kept(read, tmp_path / "out.npz")) == EXPECTED
    path = save(tmp_path / "in.npz", a=TARGET, b=SOURCE, edge_index=EDGES[:, :2])
    assert pairs(read_edges(path, source="b", target="a")) == list(zip(SOURCE, TARGET, strict=True))


@pytest.mark.parametrize("rows", [None, "source", "target"])
def test_npz_compressed_rows(tmp_path: Path, rows: str | None) -> None:
    named = {} if rows is None else {"rows": np.array(rows)}
    path = save(tmp_path / "in.npz", indptr=[0, 2, 2, 5], indices=[1, 2, 0, 1, 2], edge_w=np.arange(5), **named)
    read = read_edges(path, edge_attr=["edge_w"])
    assert read.graph.rows == (rows or "source")
    small = kept(read, tmp_path / "out.npz")
    assert small.graph.rows == read.graph.rows
    assert pairs(small) == [pair for pair, keep in zip(pairs(read), MASK, strict=True) if keep]
    assert read.graph.edge_attr.tolist() == [0, 1, 2, 3, 4]
    with np.load(tmp_path / "out.npz") as out:
        assert out["edge_w"].tolist() == [0, 2, 3]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [sp.coo_matrix, sp.coo_array])
def test_npz_of_scipy_stays_one(tmp_path: Path, kind: str, make: type) -> None:
    matrix = make((np.arange(5.0), (SOURCE, TARGET)), shape=(4, 4)).asformat(kind)
    sp.save_npz(tmp_path / "in.npz", matrix)
    read = read_edges(tmp_path / "in.npz")
    assert read.graph.num_nodes == 4
    write_edges(tmp_path / "out.npz", read, MASK)
    out = sp.load_npz(tmp_path / "out.npz")
    assert type(out) is type(matrix)
    expected = np.zeros((4, 4))
    source, target = (end[MASK] for end in read.graph.ends())
    expected[source, target] = matrix.toarray()[source, target]
    assert np.array_equal(out.toarray(), expected)
    with pytest.raises(FormatError, match=r"out\.csv: a scipy matrix can be written to \.npz only"):
        write_edges(tmp_path / "out.csv", read, MASK)


def test_npz_keeps_its_compression(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "in.npz", edge_index=EDGES)
    write_edges(tmp_path / "out.npz", read_edges(tmp_path / "in.npz"), MASK)
    with zipfile.ZipFile(tmp_path / "out.npz") as archive:
        assert [info.compress_type for info in archive.infolist()] == [zipfile.ZIP_DEFLATED]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edge_index": EDGES.astype(float)}, r"edge_index\[0\]' must be integers, got float64"),
        ({"edge_index": EDGES.T}, r"edge_index must have shape \[2, E\], got \[5, 2\]"),
        ({"edge_index": EDGES - 1}, r"edge_index\[0\]', row 0: ids must be >= 0, got -1"),
        ({"edge_index": np.array([[1], [2**63]], np.uint64)}, r"row 0: id 9223372036854775808 exceeds 63 bits"),
        ({"edge_index": np.array([["a"], ["b"]])}, "must be integers, got <U1"),
        ({"edge_index": np.array([[0], [10**12]])}, r"row 0: id 1000000000000 is far beyond the 1 edges"),
        ({"edge_index": EDGES, "num_nodes": 3}, r"source ids must be in \[0, 3\), got 3 at edge 4"),
        ({"edge_index": EDGES, "num_nodes": "x"}, "num_nodes must be one whole number"),
        ({"edge_index": EDGES, "edge_attr": np.arange(4)}, "edge_attr must have 5 rows"),
        ({"edge_index": EDGES, "x": np.array(["a"] * 4)}, "x must be numbers"),
        ({"source": SOURCE, "target": TARGET[:3]}, "as many sources as targets, got 5 and 3"),
        ({"source": SOURCE}, "no columns source, target or src, dst .*it has 'source'"),
        ({"indptr": [0, 9], "indices": [0]}, "indptr must rise from 0"),
        ({"indptr": [0, 1], "indices": [0], "rows": "up"}, "rows must be"),
        ({}, "no columns source, target .* it has none"),
    ],
)
def test_npz_refused(tmp_path: Path, arrays: dict, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        read_edges(save(tmp_path / "bad.npz", **arrays))
    assert str(tmp_path / "bad.npz") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pickles_are_refused_and_never_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return (os.mkdir, (str(tmp_path / "ran"),))

    bomb = np.array([Bomb()], object)
    np.savez(tmp_path / "bad.npz", edge_index=EDGES, evil=bomb)
    np.save(tmp_path / "x.npy", bomb)
    good = save(tmp_path / "good.npz", edge_index=EDGES)
    with pytest.raises(FormatError, match="evil: .*pickled data is refused"):
        read_edges(tmp_path / "bad.npz")
    with pytest.raises(FormatError, match=r"x\.npy: .*pickled data is refused"):
        read_edges(good, features=tmp_path / "x.npy")
    assert not (tmp_path / "ran").exists()


def header(shape: tuple, dtype: str = "<i8") -> bytes:
    body = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    body += b" " * (63 - (10 + len(body)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("shape", [(2, 10**15), (10**40, 2), (2, 3), (-1, 2), (-1, -8)])
def test_claimed_sizes_are_checked_before_memory_is_taken(tmp_path: Path, shape: tuple) -> None:
    raw = header(shape) + bytes(64)
    (tmp_path / "x.npy").write_bytes(raw)
    good = save(tmp_path / "good.npz", edge_index=EDGES)
    with pytest.raises(FormatError, match=r"x\.npy: (claims|not a readable)"):
        read_edges(good, features=tmp_path / "x.npy")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with pytest.raises(FormatError, match="edge_index: (claims|not a readable)"):
            read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": raw}, method))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_directory_that_lies_about_sizes(tmp_path: Path, method: int) -> None:
    start = header((2, 10**8))
    path = zipped(tmp_path / "bad.npz", {"edge_index.npy": start + bytes(16)}, method)
    raw = bytearray(path.read_bytes())
    at, claim = raw.rindex(b"PK\x01\x02"), len(start) + 16 * 10**8
    raw[at + 24 : at + 28] = struct.pack("<I", claim)  # the central directory claims what the header does
    path.write_bytes(raw)
    with pytest.raises(FormatError, match=f"cannot expand to the {claim} that it claims"):
        read_edges(path)


def test_members_that_overlap(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bad.npz", {"a.npy": header((999,)) + bytes(999 * 8)})
    raw = path.read_bytes()
    at, end = raw.index(b"PK\x01\x02"), raw.index(b"PK\x05\x06")
    again = raw[at:end].replace(b"a.npy", b"b.npy")  # a second name for the same bytes
    size = struct.pack("<HHI", 2, 2, 2 * (end - at))
    path.write_bytes(raw[:end] + again + raw[end : end + 8] + size + raw[end + 16 :])
    with pytest.raises(FormatError, match="claims more compressed data than the file holds"):
        read_edges(path)


def test_odd_members(tmp_path: Path) -> None:
    whole = header((2, 1)) + bytes(16)
    with pytest.raises(FormatError, match=r"'readme\.txt' is not a \.npy array"):
        read_edges(zipped(tmp_path / "bad.npz", {"readme.txt": b"hello"}))
    with pytest.raises(FormatError, match="compression method 14"):
        read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": whole}, zipfile.ZIP_LZMA))
    with pytest.raises(FormatError, match="edge_index: not a readable"):
        read_edges(zipped(tmp_path / "bad.npz", {"edge_index.npy": b"\x93NUMPY\x01\x00\xff\xff{"}))
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("edge_index.npy", whole)
        archive.writestr("edge_index.npy", whole)
    with pytest.raises(FormatError, match="more than once"):
        read_edges(tmp_path / "bad.npz")


def test_a_flipped_bit_in_npz_is_noticed(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=np.zeros((2, 500), np.int64))
    raw = bytearray(path.read_bytes())
    raw[4000] ^= 1
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="CRC"):
        read_edges(path)


def test_bad_scipy_matrices(tmp_path: Path) -> None:
    good = sp.csr_matrix(np.eye(3))
    parts = {"format": b"csr", "shape": [3, 3], "data": good.data, "indices": good.indices, "indptr": good.indptr}
    for change in (
        {"indices": [0, 1, 7]}, {"indptr": [0, 5, 2, 3]}, {"indptr": [0, 1]}, {"shape": [3]}, {"format": b"bsr"},
        {"indices": [0.0, 1.0, 2.0]}, {"format": b"coo"}, {"shape": ["a", "b"]}, {"indices": [0, -1, 2]},
    ):  # fmt: skip
        path = save(tmp_path / "bad.npz", **{**parts, **change})
        with pytest.raises((FormatError, GraphError), match=r"bad\.npz"):
            read_edges(path)


# --- Parquet ---------------------------------------------------------------------------------------------------------


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
        ({"source": [0], "target": [1], "w": [[1]]}, {"edge_attr": ["w"]}, "column 'w' must be numbers, got list"),
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


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "source,target\n0,1\n1,2\n", "source,target\n0,1\n"),
        ("a.csv", "0,1\n1,2\n", "0,1\n"),
        ("a.csv", "# a comment\n\n0,1,x\n\n1,2,y\n", "0,1,x\n"),
        ("a.csv", "# one\n\n# two\n0,1\n1,2\n", "0,1\n"),
        ("a.csv", "id,from,to,zip\n#7,0,1,007\n#8,1,2,010\n", "id,from,to,zip\n#7,0,1,007\n"),
        ("a.csv", '"src","dst","t"\r\n0,1,"a, ""b"""\r\n1,2,c\r\n', '"src","dst","t"\r\n0,1,"a, ""b"""\r\n'),
        ("a.csv", "\ufeffs,t,0,1\n0,1,5,6\n1,2,7,8\n", "s,t,0,1\n0,1,5,6\n"),
        ("a.csv", "source, target\n0, 1\n1, 2\n", "source, target\n0, 1\n"),
        ("a.tsv", "s\tt\n0\t1\n1\t2\n", "s\tt\n0\t1\n"),
        ("a.txt", "# SNAP\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n", "0\t1\n"),
        ("a.txt", "0  1   0.50 \n%c\n  1\t2 1e3\n", "0  1   0.50 \n"),
        ("a.txt", "  0 1\n 1 2\n", "  0 1\n"),
        ("a.edges", "0,1\n1,2\n", "0,1\n"),
        ("a.edgelist", "0 1 friend\n1 2 foe\n", "0 1 friend\n"),
        ("A.CSV", "source,target\n0,1\n1,2\n", "source,target\n0,1\n"),
    ],
)
def test_text_lines_are_kept_to_the_byte(tmp_path: Path, name: str, content: str, expected: str) -> None:
    read = read_edges(text(tmp_path / name, content))
    assert pairs(read) == [(0, 1), (1, 2)]
    write_edges(tmp_path / f"out{name[1:].lower()}", read, np.array([True, False]))
    assert (tmp_path / f"out{name[1:].lower()}").read_bytes() == expected.encode()


def test_text_gzip_both_ways(tmp_path: Path) -> None:
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(b"source,target\n0,1\n1,2\n"))
    read = read_edges(tmp_path / "in.csv.gz")
    for name in ("one.csv.gz", "two.csv.gz"):
        write_edges(tmp_path / name, read, np.array([False, True]))
    assert gzip.decompress((tmp_path / "one.csv.gz").read_bytes()) == b"source,target\n1,2\n"
    raw = (tmp_path / "one.csv.gz").read_bytes()
    assert raw == (tmp_path / "two.csv.gz").read_bytes()
    assert raw[4:8] == bytes(4)  # no date inside
    write_edges(tmp_path / "plain.csv", read, np.array([False, True]))
    assert (tmp_path / "plain.csv").read_bytes() == b"source,target\n1,2\n"


def test_text_attributes_and_names(tmp_path: Path) -> None:
    path = text(tmp_path / "in.csv", "a,w,b,c\n0,1,1,7\n1,2.5,2,8\n")
    read = read_edges(path, source="a", target="b", edge_attr=["w"])
    assert read.graph.edge_attr.tolist() == [1, 2.5]
    assert pairs(read) == [(0, 1), (1, 2)]
    headless = read_edges(text(tmp_path / "in.txt", "0 1 5\n1 2 6\n"), edge_attr=["column_2"])
    assert headless.graph.edge_attr.tolist() == [5, 6]


def test_text_attribute_that_turns_decimal_late(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},1\n" for i in range(200_000))  # more than the block in which Arrow guesses types
    read = read_edges(text(tmp_path / "in.csv", f"s,t,w\n{rows}5,6,0.5\n"), edge_attr=["w"])
    assert read.graph.edge_attr[-2:].tolist() == [1.0, 0.5]


def test_text_without_edges(tmp_path: Path) -> None:
    assert read_edges(text(tmp_path / "in.csv", "source,target\n")).graph.num_edges == 0
    assert read_edges(text(tmp_path / "in.txt", "# nothing here\n")).graph.num_edges == 0
    none = np.zeros(2, bool)
    for name, content in (("in.txt", "0 1\n1 2\n"), ("in.csv", "0,1\n1,2\n"), ("in.csv", "s,t\n0,1\n1,2\n")):
        read = read_edges(text(tmp_path / name, content))
        assert kept(read, tmp_path / f"out.{name[3:]}", none).graph.num_edges == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("source,target\n0,1", "The last line has no line break"),
        ("source,target\n0,1\n\n# x\n", "line 4: 1 fields where 2 are expected"),
        ("source,target\n0,1\nx,2\n", "column 'source', line 3: ids must be whole numbers in 63 bits, got 'x'"),
        ("source,target\n0,1\n1.0,2\n", "column 'source', line 3: ids must be whole numbers in 63 bits, got '1.0'"),
        ("#c\nsource,target\n0,99999999999999999999\n", "column 'target', line 3: ids must be whole .*got '9999"),
        ("source,target\n0,1\n,2\n", "column 'source', line 3: a value is missing"),
        ("source,target\n0,1\n1,-2\n", "column 'target', line 3: ids must be >= 0, got -2"),
        ("source,target\n0,1\n1,2,3\n", "line 3: 3 fields where 2 are expected"),
        ("source,target\n0,1\n1\n", "line 3: 1 fields where 2 are expected"),
        ("a,b\n0,1\n", "no columns source, target or src, dst .*it has 'a', 'b'"),
        ("source,target,target\n0,1,2\n", "column 'target' is there more than once"),
        ("5\n6\n", "needs two columns"),
        ('source,target,n\n0,1,"a\nb"\n', "line breaks inside quotes are not supported|line 2: "),
        ("source,target\n0,5000000000\n", "column 'target', line 2: id 5000000000 is far beyond"),
        ("1.5,2.5\n", "column 'source', line 1: ids must be whole"),
    ],
)
def test_text_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        read_edges(text(tmp_path / "bad.csv", content))
    assert str(tmp_path / "bad.csv") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_no_text(tmp_path: Path) -> None:
    for raw in (b"\xff\xfe\x00\x00\n", b"\x00" * 40 + b"\n", bytes(range(256)) + b"\n", b"source,target\n\xff,\xfe\n"):
        (tmp_path / "bad.csv").write_bytes(raw)
        with pytest.raises(FormatError, match=r"bad\.csv"):
            read_edges(tmp_path / "bad.csv")
    (tmp_path / "bad.csv.gz").write_bytes(b"source,target\n0,1\n")
    with pytest.raises(FormatError, match="not a readable gzip file"):
        read_edges(tmp_path / "bad.csv.gz")


# --- from one format to another --------------------------------------------------------------------------------------


def test_plain_edges_go_from_any_format_to_any_other(tmp_path: Path) -> None:
    weights = [0.5, 1.25, 2.0, 3.0, 4.0]
    sources = [
        save(tmp_path / "a.npz", edge_index=EDGES, edge_weight=weights),
        save(tmp_path / "b.npz", source=SOURCE, target=TARGET, edge_weight=weights),
        parquet(tmp_path / "c.parquet", source=SOURCE, target=TARGET, edge_weight=weights),
        text(tmp_path / "d.csv", "source,target,edge_weight\n0,1,.5\n1,2,1.25\n2,0,2.\n2,2,3.\n3,1,4.\n"),
    ]
    for i, path in enumerate(sources):
        for suffix in (".npz", ".parquet", ".csv", ".tsv", ".txt", ".tsv.gz"):
            out = tmp_path / f"out{i}{suffix}"
            write_edges(out, read_edges(path), MASK)
            column = "column_2" if suffix == ".txt" else "edge_weight"
            again = read_edges(out, edge_attr=[column])
            assert pairs(again) == EXPECTED
            assert again.graph.edge_attr.tolist() == [0.5, 2.0, 3.0]


def test_attributes_with_several_columns_go_through_parquet(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES, edge_attr=np.arange(10.0).reshape(5, 2))
    write_edges(tmp_path / "out.parquet", read_edges(path), MASK)
    middle = read_edges(tmp_path / "out.parquet", edge_attr=["edge_attr"])
    assert middle.graph.edge_attr.tolist() == [[0, 1], [4, 5], [6, 7]]
    write_edges(tmp_path / "back.npz", middle, np.array([True, True, False]))
    assert read_edges(tmp_path / "back.npz").graph.edge_attr.tolist() == [[0, 1], [4, 5]]


@pytest.mark.parametrize(
    ("make", "suffix", "message"),
    [
        (lambda p: save(p / "a.npz", edge_index=EDGES, x=np.eye(4)), ".parquet", "cannot hold 'x'"),
        (lambda p: save(p / "a.npz", indptr=[0, 5], indices=[0] * 5), ".csv", "cannot hold compressed rows"),
        (lambda p: save(p / "a.npz", edge_index=EDGES, edge_attr=np.ones((5, 2))), ".csv", "cannot be written as text"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=list("abcde")), ".npz", "'name' must be numbers"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, index=SOURCE), ".npz", "would become .*'edge_index'"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=list("abcde")), ".txt", "'name' .* no place"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=[[1]] * 5), ".csv", "cannot be written as text"),
    ],
)
def test_what_a_format_cannot_hold_is_not_written(
    tmp_path: Path, make: Callable[[Path], Path], suffix: str, message: str
) -> None:
    read = read_edges(make(tmp_path))
    out = tmp_path / f"out{suffix}"
    out.write_bytes(b"old")
    before = names(tmp_path)
    with pytest.raises(FormatError, match=message) as caught:
        write_edges(out, read, MASK)
    assert str(out) in str(caught.value)
    assert out.read_bytes() == b"old"
    assert names(tmp_path) == before


def test_text_that_fits_no_guessed_type_becomes_strings(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},1\n" for i in range(200_000))
    read = read_edges(text(tmp_path / "in.csv", f"s,t,w\n{rows}5,6,n/a!\n"))
    mask = np.zeros(200_001, bool)
    mask[-2:] = True
    write_edges(tmp_path / "out.parquet", read, mask)
    assert pq.read_table(tmp_path / "out.parquet")["w"].to_pylist() == ["1", "n/a!"]


# --- features --------------------------------------------------------------------------------------------------------


def test_features_from_every_format(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES, x=np.zeros((4, 1)))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x))
    np.savez(tmp_path / "one.npz", anything=x)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(x))
    parquet(tmp_path / "x.parquet", a=x[:, 0], b=x[:, 1], c=x[:, 2])
    parquet(tmp_path / "list.parquet", v=pa.array(x.tolist(), pa.list_(pa.float32(), 3)))
    for name in ("x.npy", "f.npy", "one.npz", "sparse.npz", "x.parquet", "list.parquet"):
        got = read_edges(edges, features=tmp_path / name).graph.x
        assert np.array_equal(got.toarray() if sp.issparse(got) else got, x)
        assert sp.issparse(got) == (name == "sparse.npz")
    mapped = read_edges(edges, features=tmp_path / "x.npy").graph.x
    assert not mapped.flags.owndata
    assert not mapped.flags.writeable


def test_features_of_no_nodes(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.empty((0, 3)))
    edges = save(tmp_path / "in.npz", edge_index=np.empty((2, 0), np.int64))
    assert read_edges(edges, features=tmp_path / "x.npy").graph.x.shape == (0, 3)


def test_features_refused(tmp_path: Path) -> None:
    edges = save(tmp_path / "in.npz", edge_index=EDGES)
    np.save(tmp_path / "short.npy", np.ones((3, 2)))
    np.save(tmp_path / "text.npy", np.array(["a"] * 4))
    np.save(tmp_path / "cube.npy", np.ones((4, 2, 2)))
    np.save(tmp_path / "scalar.npy", np.array(1.0))
    np.savez(tmp_path / "two.npz", a=np.eye(4), b=np.eye(4))
    parquet(tmp_path / "bad.parquet", a=[1.0, None, 2.0, 3.0])
    text(tmp_path / "x.csv", "1\n2\n3\n4\n")
    for name, message in (
        ("short.npy", "has 3 rows, but the edges name node 3"), ("text.npy", "features must be numbers, got <U1"),
        ("cube.npy", "features must have shape"), ("scalar.npy", "features must have shape"),
        ("two.npz", "must hold one array or a scipy matrix, got a, b"),
        ("bad.parquet", "column 'a', row 1: a value is missing"), ("x.csv", r"features must be one of \.npy"),
    ):  # fmt: skip
        with pytest.raises((FormatError, GraphError), match=message):
            read_edges(edges, features=tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_edges(edges, features=tmp_path / "absent.npy")


# --- paths -----------------------------------------------------------------------------------------------------------


def test_an_input_is_never_the_output(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES)
    x = tmp_path / "x.parquet"
    parquet(x, a=[1.0, 2, 3, 4])
    (tmp_path / "link.npz").symlink_to(path)
    os.link(path, tmp_path / "hard.npz")
    read = read_edges(path, features=x)
    raw = path.read_bytes()
    for out in (path, tmp_path / "link.npz", tmp_path / "hard.npz", tmp_path / "." / "in.npz", x):
        with pytest.raises(OptionError, match="must not be an input file"):
            write_edges(out, read, MASK)
    assert path.read_bytes() == raw
    with pytest.raises(OptionError, match="must not be an input file"):
        check_output(tmp_path / "new.npz", tmp_path / "a" / ".." / "new.npz")


def test_bad_paths_and_options(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES)
    read = read_edges(path)
    for name in ("out.pt", "out", "out.npz.gz", "out.pkl"):
        with pytest.raises(FormatError, match=r"suffix must be one of \.npz, \.parquet"):
            write_edges(tmp_path / name, read, MASK)
        with pytest.raises(FormatError, match="suffix must be one of"):
            read_edges(tmp_path / name)
    for name in ("absent.npz", "absent.parquet", "absent.csv"):
        with pytest.raises(FileNotFoundError):
            read_edges(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        write_edges(tmp_path / "no" / "out.npz", read, MASK)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(IsADirectoryError):
        read_edges(tmp_path / "folder.parquet")
    with pytest.raises(OptionError, match="named together"):
        read_edges(path, source="a")
    for mask in (MASK[:3], MASK.astype(int)):
        with pytest.raises(OptionError, match="mask must be 5 booleans"):
            write_edges(tmp_path / "out.npz", read, mask)
    assert names(tmp_path) == ["folder.parquet", "in.npz"]


# --- properties ------------------------------------------------------------------------------------------------------


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = draw(st.integers(0, 30))
    numbers = st.lists(st.integers(0, 50), min_size=count, max_size=count)
    mask = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return np.array(draw(numbers), np.int64), np.array(draw(numbers), np.int64), np.array(mask, bool)


@settings(max_examples=25, deadline=None)
@given(edge_lists(), st.sampled_from([".npz", ".parquet", ".csv", ".tsv", ".txt", ".csv.gz"]))
def test_round_trip(drawn: tuple, suffix: str) -> None:
    source, target, mask = drawn
    with tempfile.TemporaryDirectory() as folder:
        start = save(Path(folder) / "in.npz", edge_index=np.stack([source, target]), edge_w=np.arange(len(mask)))
        middle, end = Path(folder) / f"middle{suffix}", Path(folder) / f"end{suffix}"
        write_edges(middle, read_edges(start), np.ones(len(mask), bool))
        read = read_edges(middle)
        assert pairs(read) == list(zip(source, target, strict=True))
        small = kept(read, end, mask)
        assert pairs(small) == list(zip(source[mask], target[mask], strict=True))


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv", ".txt", ".csv.gz", ".npy"])
def test_a_file_cut_short_is_refused_at_every_byte(tmp_path: Path, suffix: str) -> None:
    edges = np.arange(24).reshape(2, 12) * 37 % 12
    start = save(tmp_path / "in.npz", edge_index=edges)
    whole = tmp_path / f"whole{suffix}"
    if suffix == ".npy":
        np.save(whole, np.ones((12, 3)))
    else:
        write_edges(whole, read_edges(start), np.ones(12, bool))
    raw, cut = whole.read_bytes(), tmp_path / f"cut{suffix}"
    accepted = []
    for size in range(0, len(raw), 1 if len(raw) < 600 else 7):
        cut.write_bytes(raw[:size])
        try:
            read = read_edges(start, features=cut) if suffix == ".npy" else read_edges(cut)
        except LspruneError as error:
            assert str(cut) in str(error)
            assert "\n" not in str(error)
        else:
            accepted.append(size)
            assert pairs(read) == list(zip(*edges[:, : read.graph.num_edges].tolist(), strict=True))
    if suffix in (".csv", ".txt"):  # nothing in the file tells these from whole ones
        assert accepted == [size for size in range(1, len(raw)) if raw[size - 1 : size] == b"\n"]
    else:
        assert accepted == []


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([".npz", ".parquet", ".csv", ".txt", ".csv.gz"]), st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_byte_gives_edges_or_one_of_our_errors(suffix: str, at: int, change: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        start = save(Path(folder) / "in.npz", edge_index=EDGES)
        bad = Path(folder) / f"bad{suffix}"
        write_edges(bad, read_edges(start), np.ones(5, bool))
        raw = bytearray(bad.read_bytes())
        raw[at % len(raw)] ^= change
        bad.write_bytes(raw)
        try:
            assert read_edges(bad).graph.num_edges >= 0
        except LspruneError as error:
            assert str(bad) in str(error)
