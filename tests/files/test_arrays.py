"""Edges in memory-mapped arrays: `.npz`, `.npy` and folders of `.npy`, as pairs and as compressed rows."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from files_helpers import EDGES, MASK, SOURCE, TARGET, save
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_helpers import asked, together, write_all

from lsprune.errors import FormatError, GraphError
from lsprune.files import open_edges, read_edges, write_edges


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30), st.sampled_from(["source", "target"]), st.integers(1, 40),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_compressed_rows(degrees: list[int], rows: str, size: int, random: object) -> None:
    count = sum(degrees)
    indices = np.array([random.randrange(len(degrees)) for _ in range(count)], np.int32)
    mask = np.array([random.random() < 0.5 for _ in range(count)], bool)
    indptr = np.cumsum([0, *degrees]).astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path, out, expected = (Path(folder) / name for name in ("in.npz", "out.npz", "expected.npz"))
        save(path, indptr=indptr, indices=indices, rows=np.array(rows), edge_attr=np.arange(count) / 2)
        whole, files = read_edges(path), open_edges(path)
        assert (files.nodes, files.edges) == (len(degrees), count)
        source, target, attr = together(files, size, attributes=True)
        assert [source.tolist(), target.tolist()] == [end.tolist() for end in whole.graph.ends()]
        assert attr.tolist() == whole.graph.edge_attr.tolist()
        assert all(piece.source.size <= size for piece in files.pieces(size, False))
        write_edges(expected, whole, mask)
        write_all(files, out, mask, size)
        with np.load(out) as one, np.load(expected) as other:
            assert list(one) == list(other)
            for name in one:
                assert np.array_equal(one[name], other[name])
                assert one[name].dtype == other[name].dtype


def test_other_arrays_are_cut_or_carried_as_in_memory(tmp_path: Path) -> None:
    arrays = {
        "edge_index": np.asfortranarray(EDGES.astype(np.int32)), "x": np.eye(6),
        "edge_attr": np.asfortranarray(np.arange(10.0).reshape(5, 2)), "edge_weight": np.arange(5).astype(">i2"),
        "edge_label": np.arange(5), "y": np.arange(5), "num_nodes": np.array(6), "file": np.array(["a", "b"]),
        "edge_when": np.array(range(5), "M8[s]"),
    }  # fmt: skip
    path = tmp_path / "in.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if name != "file"})
    files = open_edges(path)
    assert files.nodes == 6
    assert np.array_equal(files.features, np.eye(6))
    write_all(files, tmp_path / "out.npz", MASK, 2)
    write_edges(tmp_path / "expected.npz", read_edges(path), MASK)
    with np.load(tmp_path / "out.npz") as one, np.load(tmp_path / "expected.npz") as other:
        assert list(one) == list(other)
        for name in other:
            assert np.array_equal(one[name], other[name])
            assert one[name].dtype == other[name].dtype
    assert read_edges(tmp_path / "out.npz").graph.num_edges == 3


def test_named_attributes_are_cut_and_stacked(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", a=SOURCE, b=TARGET, w=np.arange(5), v=np.arange(10.0).reshape(5, 2))
    files = open_edges(path, source="a", target="b", edge_attr=["w", "v"])
    assert (files.names, files.attr_shape, files.attr_dtype) == (("a", "b"), (3,), np.float64)
    whole = read_edges(path, source="a", target="b", edge_attr=["w", "v"])
    assert np.array_equal(together(files, 2, attributes=True)[2], whole.graph.edge_attr)
    write_all(files, tmp_path / "out.npz", MASK, 3)
    with np.load(tmp_path / "out.npz") as out:
        assert out["w"].tolist() == [0, 2, 3]
        assert out["v"].tolist() == [[0, 1], [4, 5], [6, 7]]


@pytest.mark.parametrize("dtype", ["i4", "i8", "u2", "u8", ">i4"])
def test_one_npy_of_any_integer_type(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "in.npy", EDGES.astype(dtype))
    files = open_edges(tmp_path / "in.npy")
    assert np.array_equal(together(files, 2)[:2], EDGES)
    if dtype in ("i4", "i8"):  # as they lie in the file
        batch = next(files.batches(5))
        assert not batch.source.flags.owndata
        assert not batch.source.flags.writeable
    write_all(files, tmp_path / "out.npy", MASK, 2)
    out = np.load(tmp_path / "out.npy")
    assert np.array_equal(out, EDGES[:, MASK])
    assert out.dtype == np.dtype(dtype)


def test_arrays_that_lie_across_words_are_copied(tmp_path: Path) -> None:
    copied = set()
    for name in ("a", "ab", "abc", "abcd"):  # the length of a name moves what follows it in the file
        files = open_edges(save(tmp_path / f"{name}.npz", **{name: np.arange(3), "source": SOURCE, "target": TARGET}))
        assert np.array_equal(together(files, 2)[:2], EDGES)
        batch = next(files.batches(5))
        assert batch.source.flags.aligned
        copied.add(batch.source.flags.owndata)
    assert True in copied


def test_a_folder_of_npy_is_an_npz_unpacked(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    arrays = {"source": SOURCE, "target": TARGET, "edge_w": np.arange(5.0), "x": np.eye(4)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    files = open_edges(folder)
    assert np.array_equal(together(files, 3)[:2], EDGES)
    assert sum(shard.last - shard.first for shard in files.shards) == 5
    write_all(files, tmp_path / "out", MASK, 2)
    for name, array in arrays.items():
        assert np.array_equal(np.load(tmp_path / "out" / f"{name}.npy"), array if name == "x" else array[MASK])
    (folder / "more").mkdir()
    np.save(folder / "more" / "edge_z.npy", np.arange(5))
    with pytest.raises(FormatError, match=r"must hold \.npy files and no folders"):
        open_edges(folder)


def test_edges_beyond_two_to_the_31(tmp_path: Path) -> None:
    count, marked = (1 << 31) + 5, [0, (1 << 31) - 1, 1 << 31, (1 << 31) + 4]
    path = tmp_path / "in.npy"
    data = np.lib.format.open_memmap(path, "w+", np.int32, (2, count))  # sparse: only marked pages take disk
    data[0, marked], data[1, marked] = [1, 2, 3, 4], [5, 6, 7, 8]
    data.flush()
    files = open_edges(path, num_nodes=9)
    assert files.edges == count
    rows = 1 << 29
    piece = list(files.pieces(rows, False))[-1]
    assert (piece.first, piece.source.tolist(), piece.target.tolist()) == (1 << 31, [3, 0, 0, 0, 4], [7, 0, 0, 0, 8])
    assert piece.place(4) == f"row {(1 << 31) + 4}"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edge_index": EDGES.astype(float)}, r"edge_index\[0\]' must be integers, got float64"),
        ({"edge_index": EDGES.T}, r"edge_index must have shape \[2, E\], got \[5, 2\]"),
        ({"edge_index": EDGES - 1}, r"edge_index\[0\]', row 0: ids must be >= 0, got -1"),
        ({"edge_index": np.array([[1], [2**63]], np.uint64)}, r"row 0: id 9223372036854775808 exceeds 63 bits"),
        ({"edge_index": EDGES, "num_nodes": 3}, r"edge_index\[0\]', row 4: ids must be in \[0, 3\), got 3"),
        ({"edge_index": EDGES, "num_nodes": [3, 3]}, r"edge_index\[0\]', row 4: ids must be in \[0, 3\), got 3"),
        ({"edge_index": EDGES, "edge_attr": np.arange(4)}, "the arrays edge_attr must have one row for each edge"),
        ({"edge_index": EDGES, "edge_w": np.arange(4)}, "edge_w must have one entry for each of the 5"),
        ({"source": SOURCE, "target": TARGET[:3]}, "as many sources as targets, got 5 and 3"),
        ({"source": SOURCE}, "no arrays source, target or src, dst .*it has 'source'"),
        ({"indptr": [0, 9], "indices": [0]}, "indptr must rise from 0"),
        ({"indptr": [0, 2, 1, 2], "indices": [0, 0]}, "indptr must rise, got 1 at row 2"),
        ({"indptr": [0, 1], "indices": [1]}, r"row 0: ids must be in \[0, 1\), got 1"),
        ({"indptr": [0, 1], "indices": [0], "rows": "up"}, "rows must be"),
        ({"indptr": [0, 1], "indices": [0], "num_nodes": 7}, "num_nodes must match the 1 rows of indptr, got 7"),
    ],
)
def test_refused(tmp_path: Path, arrays: dict, message: str) -> None:
    path = save(tmp_path / "bad.npz", **arrays)
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        together(open_edges(path), 3)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_compressed_and_scipy_files_say_what_to_do(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "in.npz", edge_index=EDGES)
    with pytest.raises(FormatError, match="'edge_index' is compressed and cannot be memory-mapped; write .* np.savez "):
        open_edges(tmp_path / "in.npz")
    sp.save_npz(tmp_path / "sp.npz", sp.csr_matrix(np.eye(3)), compressed=False)
    with pytest.raises(FormatError, match="scipy matrix cannot be streamed"):
        open_edges(tmp_path / "sp.npz")


def test_damage_is_noticed_before_the_first_edge_and_before_the_first_byte(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=np.zeros((2, 500), np.int64))
    raw = bytearray(path.read_bytes())
    raw[4000] ^= 1
    path.write_bytes(raw)
    files = open_edges(path)
    with pytest.raises(FormatError, match=r"in\.npz: edge_index: bad CRC-32"):
        next(files.batches(10))
    handle = io.BytesIO()
    with pytest.raises(FormatError, match="bad CRC-32"):
        files.write_shard(files.shards[0], handle, asked(np.ones(500, bool)), 10)
    assert handle.getvalue() == b""


def test_cut_short_at_every_byte(tmp_path: Path) -> None:
    whole, cut = save(tmp_path / "whole.npz", edge_index=EDGES), tmp_path / "cut.npz"
    raw = whole.read_bytes()
    for size in range(0, len(raw), 5):
        cut.write_bytes(raw[:size])
        with pytest.raises(FormatError, match=r"cut\.npz"):
            together(open_edges(cut), 3)
