"""Edge lists on disk give the edges, and write the rows, that the readers in memory do; for every format."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, MASK, names, parquet, save, text
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_helpers import together, write_all

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import read_edges, write_edges
from lsprune.files.batches import open_edges
from lsprune.files.batches.base import Batch, regroup

SUFFIXES = (".npz", ".parquet", ".csv", ".tsv", ".txt", ".edges", ".csv.gz", ".txt.zst")


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = draw(st.integers(0, 40))
    numbers = st.lists(st.integers(0, 50), min_size=count, max_size=count)
    mask = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return np.array([draw(numbers), draw(numbers)], np.int64), np.array(mask, bool), draw(st.integers(1, 45))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20, deadline=None)
@given(edge_lists())
def test_batches_and_shards_are_those_of_the_reader_in_memory(suffix: str, drawn: tuple) -> None:
    edges, mask, rows = drawn
    with tempfile.TemporaryDirectory() as folder:
        start = save(Path(folder) / "start.npz", edge_index=edges, edge_w=np.arange(mask.size) / 4)
        path, out, expected = (Path(folder) / f"{name}{suffix}" for name in ("in", "out", "expected"))
        write_edges(path, read_edges(start), np.ones(mask.size, bool))
        column = ["column_2" if suffix in (".txt", ".edges", ".txt.zst") else "edge_w"]
        column = column if mask.size else []
        whole = read_edges(path, edge_attr=column)
        files = open_edges(path, edge_attr=column)
        source, target, attr = together(files, rows, attributes=bool(column))
        assert [source.tolist(), target.tolist()] == [end.tolist() for end in whole.graph.ends()]
        if column:
            assert attr.tolist() == whole.graph.edge_attr.tolist()
            assert attr.dtype == whole.graph.edge_attr.dtype
        write_edges(expected, whole, mask)
        write_all(files, out, mask, rows)
        if ".npz" in suffix:
            with np.load(out) as one, np.load(expected) as other:
                assert list(one) == list(other)
                assert all(np.array_equal(one[name], other[name]) for name in one)
        else:
            again, wanted = (read_edges(one, edge_attr=column if mask.any() else []) for one in (out, expected))
            assert [end.tolist() for end in again.graph.ends()] == [end.tolist() for end in wanted.graph.ends()]
        if suffix in (".csv", ".tsv", ".txt", ".edges"):
            assert out.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".txt.gz"])
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_a_folder_is_its_files_in_the_order_of_their_names(tmp_path: Path, suffix: str, rows: int) -> None:
    folder, expected = tmp_path / "in", []
    for i, name in enumerate(("b", "a/z", "a/b", "c")):
        path = folder / f"{name}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        edges = EDGES + i
        write_edges(path, read_edges(save(tmp_path / "x.npz", edge_index=edges)), np.ones(5, bool))
        expected.append((f"{name}{suffix}", edges))
    for junk in ("_SUCCESS", "_metadata", ".hidden.parquet", "_temporary/x.csv", ".git/y.parquet", "README.md"):
        (folder / junk).parent.mkdir(exist_ok=True)
        (folder / junk).write_bytes(b"junk")
    expected.sort()
    files = open_edges(folder)
    assert [str(path.relative_to(folder)) for path in files.inputs] == [name for name, _ in expected]
    source, target, _ = together(files, rows)
    assert np.array_equal([source, target], np.concatenate([edges for _, edges in expected], axis=1))
    assert [(s.name, s.first, s.last) for s in files.shards] == [
        (name, 5 * i, 5 * i + 5) for i, (name, _) in enumerate(expected)
    ]
    mask = np.arange(20) % 3 == 0
    out = write_all(files, tmp_path / "out", mask, rows)
    again = open_edges(out)
    source, target, _ = together(again, 7)
    assert np.array_equal([source, target], np.concatenate([edges for _, edges in expected], axis=1)[:, mask])


def test_folders_refused(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "_SUCCESS").write_bytes(b"")
    with pytest.raises(FormatError, match=r"none: the folder is empty: no file in it ends in one of .*\.parquet"):
        open_edges(tmp_path / "none")
    (tmp_path / "two").mkdir()
    parquet(tmp_path / "two" / "a.parquet", s=[0], t=[1])
    text(tmp_path / "two" / "b.csv", "s,t\n0,1\n")
    with pytest.raises(FormatError, match=r"two: must hold files of one format, got 'a\.parquet' and 'b\.csv'"):
        open_edges(tmp_path / "two")


@pytest.mark.parametrize("kind", ["symlink", "hardlink", "copy"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_the_same_file_twice_is_refused(tmp_path: Path, kind: str, suffix: str) -> None:
    one, two = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_edges(one, read_edges(save(tmp_path.parent / "x.npz", edge_index=EDGES)), np.ones(5, bool))
    {
        "symlink": lambda: two.symlink_to(one),
        "hardlink": lambda: os.link(one, two),
        "copy": lambda: shutil.copy(one, two),
    }[kind]()
    message = "is a copy of" if kind == "copy" else "is the same file as"
    with pytest.raises(FormatError, match=f"{two}: {message} {one}; its edges would count twice"):
        open_edges(tmp_path)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".txt"])
def test_files_without_edges_may_be_alike_and_files_of_one_size_differ(tmp_path: Path, suffix: str) -> None:
    read = read_edges(save(tmp_path.parent / "x.npz", edge_index=EDGES))
    for name in "ab":
        write_edges(tmp_path / f"{name}{suffix}", read, np.zeros(5, bool))
    for name, at in (("c", 0), ("d", 3)):
        write_edges(tmp_path / f"{name}{suffix}", read, np.arange(5) == at)
    source, target, _ = together(open_edges(tmp_path), 10)
    assert [source.tolist(), target.tolist()] == EDGES[:, [0, 3]].tolist()


def test_files_that_end_alike_are_compared_to_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsprune.files.batches.folders._TAIL", 4)
    text(tmp_path / "a.csv", "0,1\n1,2\n")
    text(tmp_path / "b.csv", "5,1\n1,2\n")
    assert together(open_edges(tmp_path), 10)[0].tolist() == [0, 1, 5, 1]
    text(tmp_path / "b.csv", "0,1\n1,2\n")
    with pytest.raises(FormatError, match="is a copy of"):
        open_edges(tmp_path)


def test_options_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES)
    with pytest.raises(OptionError, match="named together"):
        open_edges(path, source="a")
    for wrong in (-1, 1.5):
        with pytest.raises(OptionError, match="num_nodes must be a whole number"):
            open_edges(path, num_nodes=wrong)
    with pytest.raises(OptionError, match="rows must be at least 1, got 0"):
        open_edges(path).batches(0)
    for name in ("absent.npz", "absent.parquet", "absent.csv", "absent.npy"):
        with pytest.raises(FileNotFoundError):
            open_edges(tmp_path / name)
    with pytest.raises(FormatError, match="suffix must be one of"):
        open_edges(tmp_path / "in.pt")


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_ids_beyond_num_nodes_and_far_beyond_the_edges(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"in{suffix}"
    write_edges(path, read_edges(save(tmp_path / "x.npz", edge_index=EDGES)), np.ones(5, bool))
    with pytest.raises(GraphError, match=r"in.*, (row|line) .*: ids must be in \[0, 3\), got 3") as caught:
        together(open_edges(path, num_nodes=3), 2)
    assert str(path) in str(caught.value)
    assert together(open_edges(path, num_nodes=4), 2)[0].tolist() == EDGES[0].tolist()
    far = np.array([[0, 1], [1, 10**12]])
    write_edges(path, read_edges(save(tmp_path / "x.npz", edge_index=far), num_nodes=10**13), np.ones(2, bool))
    with pytest.raises(FormatError, match=r"(row 1|line 3).*: id 1000000000000 is far beyond the 2 edges.*--map-ids"):
        together(open_edges(path), 10)
    assert together(open_edges(path, num_nodes=10**13), 10)[1].tolist() == far[1].tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 9))
def test_regroup_keeps_edges_and_joins_small_batches(sizes: list[int], rows: int) -> None:
    starts = np.cumsum([0, *sizes])
    given_batches = [
        Batch(int(lo), np.arange(lo, hi), -np.arange(lo, hi), None) for lo, hi in zip(starts, starts[1:], strict=False)
    ]
    out = list(regroup(iter(given_batches), rows))
    assert np.concatenate([[], *(batch.source for batch in out)]).tolist() == list(range(starts[-1]))
    assert np.concatenate([[], *(batch.target for batch in out)]).tolist() == (-np.arange(starts[-1])).tolist()
    assert all(0 < batch.source.size <= rows and batch.first == batch.source[0] for batch in out)
    assert all(a.source.size + b.source.size > rows for a, b in zip(out, out[1:], strict=False))


def test_nothing_is_written_beside_the_input(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        write_edges(tmp_path / f"in{suffix}", read_edges(save(tmp_path.parent / "x.npz", edge_index=EDGES)), MASK)
    before = names(tmp_path)
    for suffix in SUFFIXES:
        together(open_edges(tmp_path / f"in{suffix}"), 2)
    assert names(tmp_path) == before
