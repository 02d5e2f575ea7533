"""Edge lists on disk give the edges, and write the rows, that the readers in memory do; for every format."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, MASK, names, save
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_helpers import together, write_all

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import open_edges, read_edges, write_edges
from lsprune.files.edge_files import Batch, regroup

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
