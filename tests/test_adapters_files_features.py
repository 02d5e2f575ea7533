"""Node attributes from a file of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from files_helpers import EDGES, parquet, save, text
from lsprune.adapters.files import read_edges
from lsprune.errors import FormatError, GraphError


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


def test_features_with_too_few_rows_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", edge_index=EDGES)
    np.save(tmp_path / "x.npy", np.ones((2, 3)))
    with pytest.raises(FormatError, match=r"x.npy: has 2 rows, but the edges name node \d"):
        read_edges(tmp_path / "in.npz", features=tmp_path / "x.npy")
