"""Folders of edge files: which files they are, in which order, and none of them twice."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, parquet, save, text
from scale_helpers import together, write_all

from lsprune.errors import FormatError
from lsprune.files import open_edges, read_edges, write_edges


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
    monkeypatch.setattr("lsprune.files.folders._TAIL_BYTES", 4)
    text(tmp_path / "a.csv", "0,1\n1,2\n")
    text(tmp_path / "b.csv", "5,1\n1,2\n")
    assert together(open_edges(tmp_path), 10)[0].tolist() == [0, 1, 5, 1]
    text(tmp_path / "b.csv", "0,1\n1,2\n")
    with pytest.raises(FormatError, match="is a copy of"):
        open_edges(tmp_path)
