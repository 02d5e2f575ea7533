"""All formats of edge lists: from any to any other, there and back, cut short and damaged."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from files_helpers import EDGES, EXPECTED, MASK, SOURCE, TARGET, kept, names, pairs, parquet, save, text
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.errors import FormatError, LspruneError, OptionError
from lsprune.files import check_output, read_edges, write_edges
from lsprune.files.atomic_write import atomic_write


def test_plain_edges_go_from_any_format_to_any_other(tmp_path: Path) -> None:
    weights = [0.5, 1.25, 2.0, 3.0, 4.0]
    sources = [
        save(tmp_path / "a.npz", edge_index=EDGES, edge_weight=weights),
        save(tmp_path / "b.npz", source=SOURCE, target=TARGET, edge_weight=weights),
        parquet(tmp_path / "c.parquet", source=SOURCE, target=TARGET, edge_weight=weights),
        text(tmp_path / "d.csv", "source,target,edge_weight\n0,1,.5\n1,2,1.25\n2,0,2.\n2,2,3.\n3,1,4.\n"),
    ]
    for i, path in enumerate(sources):
        for suffix in (".npz", ".parquet", ".csv", ".tsv", ".txt", ".tsv.gz", ".tsv.zst"):
            out = tmp_path / f"out{i}{suffix}"
            write_edges(out, read_edges(path), MASK)
            column = "column_2" if suffix == ".txt" else "edge_weight"
            again = read_edges(out, edge_attr=[column])
            assert pairs(again) == EXPECTED
            assert again.graph.edge_attr.tolist() == [0.5, 2.0, 3.0]


def test_text_that_fits_no_guessed_type_becomes_strings(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},1\n" for i in range(200_000))
    read = read_edges(text(tmp_path / "in.csv", f"s,t,w\n{rows}5,6,n/a!\n"))
    mask = np.zeros(200_001, bool)
    mask[-2:] = True
    write_edges(tmp_path / "out.parquet", read, mask)
    assert pq.read_table(tmp_path / "out.parquet")["w"].to_pylist() == ["1", "n/a!"]


# Properties ----------------------------------------------------------------------------------------------------------


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = draw(st.integers(0, 30))
    numbers = st.lists(st.integers(0, 50), min_size=count, max_size=count)
    mask = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return np.array(draw(numbers), np.int64), np.array(draw(numbers), np.int64), np.array(mask, bool)


@settings(max_examples=25, deadline=None)
@given(edge_lists(), st.sampled_from([".npz", ".parquet", ".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst"]))
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


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv", ".txt", ".csv.gz", ".csv.zst", ".npy"])
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
@given(st.sampled_from([".npz", ".parquet", ".csv", ".csv.gz", ".csv.zst"]), st.integers(0, 10**6), st.integers(1, 255))
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
    with pytest.raises(FormatError, match="is a folder"):
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
