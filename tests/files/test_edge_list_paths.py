"""Paths and options of reading and writing files: an input is never the output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from files_helpers import EDGES, MASK, names, parquet, save

from lsprune.errors import FormatError, OptionError
from lsprune.files import check_output, read_edges, write_edges
from lsprune.files.atomic_write import atomic_write


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


def test_what_a_killed_process_left_of_the_same_output_is_removed(tmp_path: Path) -> None:
    read, out = read_edges(save(tmp_path / "in.npz", edge_index=EDGES)), tmp_path / "out.npz"
    with atomic_write(out):
        made = next(tmp_path.glob(".lsprune-*.tmp"))
        made.with_name(made.name.replace(".tmp", "0.tmp")).write_bytes(b"half")
    assert len(list(tmp_path.glob(".lsprune-*.tmp"))) == 1
    write_edges(tmp_path / "another.npz", read, MASK)
    assert len(list(tmp_path.glob(".lsprune-*.tmp"))) == 1
    write_edges(out, read, MASK)
    assert names(tmp_path) == ["another.npz", "in.npz", "out.npz"]
