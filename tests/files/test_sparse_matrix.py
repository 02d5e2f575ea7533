"""Matrices saved by scipy.sparse.save_npz: read as edges, written as matrices, and never trusted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from files_helpers import MASK, SOURCE, TARGET, save

from lsprune.errors import FormatError, GraphError
from lsprune.files import open_edges, read_edges, write_edges


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


def test_arrays_beside_a_scipy_matrix_stay_in_step(tmp_path: Path) -> None:
    matrix = sp.coo_matrix((np.arange(5.0), (SOURCE, TARGET)), shape=(4, 4))
    sp.save_npz(tmp_path / "in.npz", matrix)
    with np.load(tmp_path / "in.npz") as saved:
        arrays = dict(saved)
    save(tmp_path / "in.npz", **arrays, time=np.arange(5) * 2, y=np.arange(4))
    write_edges(tmp_path / "out.npz", read_edges(tmp_path / "in.npz"), MASK)
    with np.load(tmp_path / "out.npz") as out:
        assert out["time"].tolist() == [0, 4, 6]
        assert out["y"].tolist() == [0, 1, 2, 3]
        assert out["data"].size == out["row"].size == 3


def test_a_matrix_that_is_not_square_has_two_kinds_of_nodes(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "in.npz", sp.coo_matrix((np.ones(2), ([0, 1], [4, 2])), shape=(2, 5)))
    graph = read_edges(tmp_path / "in.npz").graph
    assert (graph.bipartite, graph.num_sources, graph.num_targets) == (True, 2, 5)
    sp.save_npz(tmp_path / "in.npz", sp.csr_matrix(np.eye(3)), compressed=False)
    with pytest.raises(FormatError, match="a saved scipy matrix cannot be streamed"):
        open_edges(tmp_path / "in.npz")
