"""Edge lists in `.npz`: which arrays are edges, which are cut with them, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, EXPECTED, MASK, SOURCE, TARGET, kept, pairs, save, text

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import read_edges, write_edges


def test_npz_edge_index_carries_the_other_arrays(tmp_path: Path) -> None:
    arrays = {
        "edge_index": EDGES.astype(np.int32), "x": np.eye(6), "edge_attr": np.arange(10.0).reshape(5, 2),
        "edge_weight": np.arange(5), "edge_label": np.arange(5), "edge_label_index": np.arange(5),
        "other_edge": np.arange(4), "y": np.arange(6), "num_nodes": np.array(6), "file": np.array(["a", "b"]),
        "time": np.arange(5) / 2, "price": np.arange(15).reshape(5, 3), "pairs": np.arange(10).reshape(2, 5),
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
            rows = name in ("edge_attr", "edge_weight", "time", "price")
            columns = name in ("edge_index", "pairs")
            assert np.array_equal(out[name], array[MASK] if rows else array[:, MASK] if columns else array)


def test_npz_source_and_target_under_any_name(tmp_path: Path) -> None:
    for ends in (("source", "target"), ("src", "dst"), ("s", "t"), ("from", "to")):
        read = read_edges(save(tmp_path / "in.npz", **dict(zip(ends, EDGES, strict=True))))
        assert pairs(kept(read, tmp_path / "out.npz")) == EXPECTED
    path = save(tmp_path / "in.npz", a=TARGET, b=SOURCE, edge_index=EDGES[:, :2])
    assert pairs(read_edges(path, source="b", target="a")) == list(zip(SOURCE, TARGET, strict=True))


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
        ({"edge_index": EDGES, "num_nodes": 3}, r"edge_index\[0\]\', row 4: ids must be in \[0, 3\), got 3"),
        ({"edge_index": EDGES, "num_nodes": "x"}, "num_nodes must be one whole number"),
        ({"edge_index": EDGES, "edge_attr": np.arange(4)}, "the arrays edge_attr must have one row for each edge"),
        ({"edge_index": EDGES, "x": np.array(["a"] * 4)}, "x must be numbers"),
        ({"source": SOURCE, "target": TARGET[:3]}, "as many sources as targets, got 5 and 3"),
        ({"source": SOURCE}, "no arrays source, target or src, dst .*it has 'source'"),
        ({"indptr": [0, 9], "indices": [0]}, "indptr must rise from 0"),
        ({"indptr": [0, 1], "indices": [0], "rows": "up"}, "rows must be"),
        ({}, "no arrays source, target .* it has none"),
    ],
)
def test_npz_refused(tmp_path: Path, arrays: dict, message: str) -> None:
    with pytest.raises((FormatError, GraphError), match=message) as caught:
        read_edges(save(tmp_path / "bad.npz", **arrays))
    assert str(tmp_path / "bad.npz") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_as_long_as_the_edges_belong_to_them(tmp_path: Path) -> None:
    time, both = np.arange(5.0), np.arange(10).reshape(5, 2)
    for pack in (np.savez, np.savez_compressed):
        pack(tmp_path / "in.npz", src=SOURCE, dst=TARGET, time=time, both=both, other=np.arange(3))
        write_edges(tmp_path / "out.npz", read_edges(tmp_path / "in.npz"), MASK)
        with np.load(tmp_path / "out.npz") as out:
            assert np.array_equal(out["time"], time[MASK])
            assert np.array_equal(out["both"], both[MASK])
            assert np.array_equal(out["other"], np.arange(3))
    write_edges(tmp_path / "out.csv", read_edges(save(tmp_path / "in.npz", src=SOURCE, dst=TARGET, time=time)), MASK)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == '"src","dst","time"'.replace('"', "")


def test_what_may_belong_to_edges_or_nodes_is_asked_for(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES, num_nodes=5, y=np.arange(5))
    read = read_edges(path)  # reading alone is no question
    for refused in (read.check, lambda: write_edges(tmp_path / "out.npz", read, MASK)):
        with pytest.raises(
            FormatError, match="array 'y' is as long as the 5 edges and as the 5 nodes; .*--edge-arrays y"
        ):
            refused()
    assert not (tmp_path / "out.npz").exists()
    for options, size in (({"edge_arrays": ["y"]}, 3), ({"node_arrays": ["y"]}, 5)):
        write_edges(tmp_path / "out.npz", read_edges(path, **options), MASK)
        with np.load(tmp_path / "out.npz") as out:
            assert out["y"].size == size


def test_edge_arrays_of_a_file_without_edges_are_empty(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=np.empty((2, 0), np.int64), num_nodes=5, y=np.empty((0, 3)))
    write_edges(tmp_path / "out.npz", read_edges(path, edge_arrays=["y"]), np.empty(0, bool))
    with np.load(tmp_path / "out.npz") as out:
        assert out["y"].shape == (0, 3)


def test_x_as_long_as_the_edges_is_asked_for_unless_there_are_as_many_nodes(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES, x=np.ones((5, 2)))
    with pytest.raises(FormatError, match="x is as long as the 5 edges, which name 4 nodes; .*--edge-arrays x"):
        read_edges(path)
    assert read_edges(path, node_arrays=["x"]).graph.x.shape == (5, 2)
    assert read_edges(path, num_nodes=5).graph.x.shape == (5, 2)
    read = read_edges(path, edge_arrays=["x"])
    assert read.graph.x is None and read.graph.num_nodes == 4
    five = save(tmp_path / "in.npz", edge_index=np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]]), x=np.ones((5, 2)))
    assert read_edges(five).graph.num_nodes == 5


def test_names_of_arrays_are_checked(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES, y=np.arange(4), edge_w=np.arange(5))
    for options, error, said in (
        ({"edge_arrays": ["z"]}, FormatError, "no array 'z'"), ({"node_arrays": ["z"]}, FormatError, "no array 'z'"),
        ({"edge_arrays": ["y"]}, FormatError, "y must have one entry for each of the 5 edges"),
        ({"edge_arrays": ["y"], "node_arrays": ["y"]}, OptionError, "no name in common, got 'y'"),
        ({"node_arrays": ["edge_index"]}, OptionError, "must not name 'edge_index'"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            read_edges(path, **options)
    write_edges(tmp_path / "out.npz", read_edges(path, node_arrays=["edge_w"]), MASK)
    with np.load(tmp_path / "out.npz") as out:
        assert out["edge_w"].size == 5
    text(tmp_path / "in.csv", "0,1\n")
    with pytest.raises(OptionError, match=r"edge_arrays \(--edge-arrays\) must be names of arrays in a \.npz, got w"):
        read_edges(tmp_path / "in.csv", edge_arrays=["w"])


def test_two_kinds_of_nodes_have_their_own_attributes(tmp_path: Path) -> None:
    arrays = {"edge_index": EDGES, "x_source": np.ones((4, 2)), "x_target": np.ones((3, 1))}
    graph = read_edges(save(tmp_path / "in.npz", **arrays), bipartite=True).graph
    assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 4, 3)
    assert (graph.x_source.shape, graph.x_target.shape) == ((4, 2), (3, 1))
    graph = read_edges(save(tmp_path / "in.npz", edge_index=EDGES, num_nodes=[6, 7])).graph
    assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 6, 7)
    for arrays, options, error, said in (
        ({"num_nodes": [6, 7]}, {"bipartite": False}, OptionError, "bipartite must not be False"),
        ({"x": np.ones((4, 1))}, {"bipartite": True}, FormatError, "x must be x_source and x_target"),
        ({}, {"bipartite": True, "num_nodes": 4}, OptionError, "num_nodes must be a pair"),
        ({}, {"target_id": "i"}, OptionError, r"target_id \(--target-id\) must come with target_features"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            read_edges(save(tmp_path / "in.npz", edge_index=EDGES, **arrays), **options)
    rows = save(tmp_path / "in.npz", indptr=[0, 2, 2, 5], indices=[1, 9, 0, 1, 2])
    graph = read_edges(rows, bipartite=True).graph
    assert (graph.num_sources, graph.num_targets, graph.rows) == (3, 10, "source")


def test_a_file_without_edges_is_told_the_usual_array(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", a=np.zeros(3))
    with pytest.raises(
        FormatError, match=r"in.npz: no array edge_index of shape \[2, E\], and no arrays source, target"
    ):
        read_edges(path)
    with pytest.raises(FormatError, match="in.npz: no columns u, v for the ends"):
        read_edges(path, source="u", target="v")
