"""Node attributes larger than memory: the values of the reader in memory, memory-mapped."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from files_helpers import parquet, save
from pyarrow import csv

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import node_features as in_memory
from lsprune.outofcore.node_features import open_column, open_features

X = np.arange(24, dtype=np.float32).reshape(8, 3)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def same(path: Path, scratch: Path, rows: int) -> np.ndarray:
    found, expected = open_features(path, scratch, rows).x, in_memory.read(path).x
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)
    assert not found.flags.owndata
    assert not found.flags.writeable
    return found


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u4", "?"])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_values_of_every_format(tmp_path: Path, scratch: Path, dtype: str, rows: int) -> None:
    x = X.astype(dtype)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "f.npy", np.asfortranarray(x))
    save(tmp_path / "x.npz", anything=x)
    np.savez_compressed(tmp_path / "packed.npz", anything=x)
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}), tmp_path / "x.parquet", row_group_size=3)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), 3)
    pq.write_table(pa.table({"v": lists}), tmp_path / "list.parquet", row_group_size=3)
    parquet(tmp_path / "one.parquet", a=x[:, 0])
    for name in ("x.npy", "f.npy", "x.npz", "packed.npz", "x.parquet", "list.parquet", "one.parquet"):
        found = same(tmp_path / name, scratch, rows)
        assert np.array_equal(found, x[:, 0] if name == "one.parquet" else x)
        assert found.flags.aligned
    assert {path.name for path in scratch.iterdir()} == {"features.npy"}


def test_columns_of_several_types(tmp_path: Path, scratch: Path) -> None:
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 3)
    found = same(parquet(tmp_path / "x.parquet", a=np.arange(8), v=lists, b=X[:, 0] > 3), scratch, 3)
    assert np.array_equal(found, np.column_stack([np.arange(8), X, X[:, 0] > 3]))


def test_a_folder_of_parquet(tmp_path: Path, scratch: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    for i, name in enumerate(("b", "a", "c")):
        parquet(folder / f"{name}.parquet", a=X[i : i + 2, 0], b=X[i : i + 2, 1])
    found = open_features(folder, scratch, 1).x
    assert np.array_equal(found, X[[1, 2, 0, 1, 2, 3], :2])
    parquet(folder / "d.parquet", a=X[:, 0])
    with pytest.raises(FormatError, match=r"d\.parquet: no column 'b'"):
        open_features(folder, scratch, 1)


def test_no_nodes(tmp_path: Path, scratch: Path) -> None:
    assert same(parquet(tmp_path / "x.parquet", a=np.empty(0), b=np.empty(0)), scratch, 3).shape == (0, 2)


def test_refused(tmp_path: Path, scratch: Path) -> None:
    np.save(tmp_path / "text.npy", np.array(["a"] * 4))
    np.save(tmp_path / "cube.npy", np.ones((4, 2, 2)))
    save(tmp_path / "two.npz", a=X, b=X)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(X))
    pq.write_table(pa.table({"a": [1.0, 2.0, None]}), tmp_path / "null.parquet", row_group_size=2)
    parquet(tmp_path / "words.parquet", a=["x"])
    damaged = bytearray(save(tmp_path / "bad.npz", a=np.zeros(500)).read_bytes())
    damaged[3000] ^= 1
    (tmp_path / "bad.npz").write_bytes(damaged)
    (tmp_path / "no.npz").write_bytes(b"no zip")
    for name, message in (
        ("text.npy", "features must be numbers, got <U1"), ("cube.npy", "features must have shape"),
        ("two.npz", "must hold one array or a scipy matrix, got a, b"),
        ("sparse.npz", "scipy matrix cannot be streamed"),
        ("null.parquet", r"column 'a', row 2 \(row group 1\): a value is missing"),
        ("words.parquet", "column 'a' must be numbers, got string"), ("bad.npz", "bad CRC-32"),
        ("no.npz", "not a readable .npz file"), ("x.txt", r"features must be a file with the suffix \.npy"),
    ):  # fmt: skip
        with pytest.raises(FormatError, match=message) as caught:
            open_features(tmp_path / name, scratch, 2)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(FileNotFoundError):
        open_features(tmp_path / "absent.npy", scratch, 2)


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("kind", ["columns", "list", "large_list", "fixed", "npz", "packed"])
def test_rows_are_joined_by_ids_as_in_memory(tmp_path: Path, scratch: Path, kind: str, rows: int) -> None:
    order = np.array([9, 2, 0, 7, 1, 3, 5, 4])  # neither 6 nor 8
    lists = {
        "list": pa.list_(pa.float32()),
        "large_list": pa.large_list(pa.float32()),
        "fixed": pa.list_(pa.float32(), 3),
    }
    columns = {"x": pa.array(X.tolist(), lists[kind])} if kind in lists else {f"c{i}": X[:, i] for i in range(3)}
    path = tmp_path / "n.parquet"
    pq.write_table(pa.table({**columns, "id": order}), path, row_group_size=3)
    if kind in ("npz", "packed"):
        path = tmp_path / "n.npz"
        (np.savez if kind == "npz" else np.savez_compressed)(path, x=X, id=order)
    found, expected = open_features(path, scratch, rows), in_memory.read(path)
    assert np.array_equal(found.x[order], X)
    assert np.array_equal(found.x, expected.x)
    assert np.array_equal(found.known, expected.known)
    assert found.joined and not found.x.flags.owndata


@pytest.mark.parametrize("kind", ["uint8", "uint32", "uint64", "int8"])
def test_ids_of_any_integer_type_are_joined(tmp_path: Path, scratch: Path, kind: str) -> None:
    order = np.array([2, 0, 3, 1], kind)
    np.savez(tmp_path / "n.npz", x=X[:4], id=order)
    for path in (parquet(tmp_path / "n.parquet", id=order, a=X[:4, 0]), tmp_path / "n.npz"):
        found, expected = open_features(path, scratch, 2), in_memory.read(path)
        assert np.array_equal(found.x, expected.x) and found.joined


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([0, 1, 2, 2], "ids of nodes must be unique, got 2 2 times"),
        ([3, 0, 1, 3], "ids of nodes must be unique, got 3 2 times"),
        ([0, 1, None, 3], r"column 'id', row 2 \(row group 0\): a value is missing"),
        ([0, 1, 2, -3], "column 'id', row 3 .*: ids must be >= 0, got -3"),
        ([0.0, 1.0, 2.0, 3.0], "column 'id' must be integers, got double"),
        (["a", "b", "c", "d"], "column 'id' must be integers, got string .*--map-ids"),
        ([0, 1, 2, 10**12], "id 1000000000000 is far beyond the 4 rows"),
    ],
)
def test_ids_that_are_refused(tmp_path: Path, scratch: Path, ids: list, said: str) -> None:
    for rows in (1, 2, 100):
        with pytest.raises((FormatError, GraphError), match=said):
            open_features(parquet(tmp_path / "n.parquet", id=ids, a=X[:4, 0]), scratch, rows)


def test_lists_of_several_lengths_are_refused(tmp_path: Path, scratch: Path) -> None:
    path = parquet(tmp_path / "n.parquet", x=[[1.0, 2.0], [3.0, 4.0], [5.0], [6.0, 7.0]])
    for rows in (1, 2, 100):
        with pytest.raises(
            FormatError, match="column 'x', row [23] .*: lists must have one length, got (2 and 1|1 and 2)"
        ):
            open_features(path, scratch, rows)


def test_damage_in_a_compressed_archive_is_a_format_error(tmp_path: Path, scratch: Path) -> None:
    x = np.random.default_rng(0).standard_normal((50, 4))
    np.savez_compressed(tmp_path / "whole.npz", x=x)
    whole = (tmp_path / "whole.npz").read_bytes()
    path = tmp_path / "x.npz"
    for at in range(60, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        for read in (lambda: open_features(path, scratch, 10), lambda: in_memory.read(path)):
            try:
                found = read()
            except FormatError as error:
                assert str(path) in str(error)
            else:
                assert np.array_equal(found.x, x)  # what was changed says nothing of the content


def test_columns_that_are_there_twice(tmp_path: Path, scratch: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=["a", "a"])
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    for read in (lambda: open_features(path, scratch, 10), lambda: in_memory.read(path)):
        with pytest.raises(FormatError, match=r"x\.parquet: column 'a' is there more than once"):
            read()


def test_features_that_would_fill_the_disk_are_refused(tmp_path: Path, scratch: Path, monkeypatch) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros((1000, 50)))
    parquet(tmp_path / "x.parquet", a=np.zeros(50_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100_000))
    for name in ("x.npz", "x.parquet"):
        with pytest.raises(OptionError, match=r"400 kB are needed on the disk .* 100 kB are free; .* --scratch DIR"):
            open_features(tmp_path / name, scratch, 10)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("empty", ["0.parquet", "2.parquet"])
def test_a_part_without_rows_goes_with_any_type(tmp_path: Path, scratch: Path, empty: str) -> None:
    folder = tmp_path / "nodes"
    folder.mkdir()
    parquet(folder / "1.parquet", id=np.arange(3), x=[[1.0, 2.0]] * 3, t=np.arange(3))
    parquet(folder / empty, **{name: pa.nulls(0) for name in ("id", "x", "t")})
    nodes = open_features(folder, scratch, 2)
    assert (nodes.joined, nodes.x.tolist()) == (True, [[1.0, 2.0]] * 3)
    column, dtype = open_column(folder, scratch, 2, "t", id=None, features=("x",), name="t.npy")
    assert (column.count, dtype) == (3, np.int64)
    parquet(folder / empty, id=[3], x=pa.nulls(1), t=[3])
    with pytest.raises(FormatError, match="column 'x' is (null, but list|list.* but null).* the same type"):
        open_features(folder, scratch, 2)


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_text_is_read_as_in_memory(tmp_path: Path, scratch: Path, rows: int) -> None:
    order = np.array([9, 2, 0, 7, 1, 3, 5, 4])  # neither 6 nor 8
    table = pa.table({"id": order, "a": X[:, 0], "b": np.arange(8), "t": np.arange(8).astype("M8[D]")})
    csv.write_csv(table, tmp_path / "n.csv")
    found = open_features(tmp_path / "n.csv", scratch, rows, skip=("t",))
    expected = in_memory.read(tmp_path / "n.csv", skip=("t",))
    assert np.array_equal(found.x, expected.x) and np.array_equal(found.known, expected.known) and found.joined
    opened = open_column(tmp_path / "n.csv", scratch, rows, "t", id=None, features=("a", "b"), name="t.npy")
    assert opened is not None and opened[1] == np.dtype("M8[D]") and opened[0].columns.id == "id"
    assert open_column(tmp_path / "n.csv", scratch, rows, "u", id=None, features=(), name="u.npy") is None
    csv.write_csv(table.drop(["id"]), tmp_path / "rows.csv")
    assert np.array_equal(open_features(tmp_path / "rows.csv", scratch, rows, x=("a",), name="r.npy").x, X[:, 0])
    csv.write_csv(table.set_column(2, "b", pa.array(list("abcdefgh"))), tmp_path / "words.csv")
    with pytest.raises(FormatError, match="words.csv: column 'b' must be numbers, got string"):
        open_features(tmp_path / "words.csv", scratch, rows, skip=("t",), name="w.npy")
