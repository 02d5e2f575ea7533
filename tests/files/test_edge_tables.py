"""Tables of edges written in any format, and what a format cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from files_helpers import EDGES, MASK, SOURCE, TARGET, names, parquet, save

from lsprune.errors import FormatError
from lsprune.files import read_edges, write_edges


@pytest.mark.parametrize(
    ("make", "suffix", "message"),
    [
        (lambda p: save(p / "a.npz", edge_index=EDGES, x=np.eye(4)), ".parquet", "cannot hold 'x'"),
        (lambda p: save(p / "a.npz", indptr=[0, 5], indices=[0] * 5), ".csv", "cannot hold compressed rows"),
        (lambda p: save(p / "a.npz", edge_index=EDGES, edge_attr=np.ones((5, 2))), ".csv", "cannot be written as text"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=list("abcde")), ".npz", "'name' must be numbers"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, index=SOURCE), ".npz", "would become .*'edge_index'"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=list("abcde")), ".txt", "'name' .* no place"),
        (lambda p: parquet(p / "a.parquet", s=SOURCE, t=TARGET, name=[[1]] * 5), ".csv", "cannot be written as text"),
    ],
)
def test_what_a_format_cannot_hold_is_not_written(
    tmp_path: Path, make: Callable[[Path], Path], suffix: str, message: str
) -> None:
    read = read_edges(make(tmp_path))
    out = tmp_path / f"out{suffix}"
    out.write_bytes(b"old")
    before = names(tmp_path)
    with pytest.raises(FormatError, match=message) as caught:
        write_edges(out, read, MASK)
    assert str(out) in str(caught.value)
    assert out.read_bytes() == b"old"
    assert names(tmp_path) == before


def test_attributes_with_several_columns_go_through_parquet(tmp_path: Path) -> None:
    path = save(tmp_path / "in.npz", edge_index=EDGES, edge_attr=np.arange(10.0).reshape(5, 2))
    write_edges(tmp_path / "out.parquet", read_edges(path), MASK)
    middle = read_edges(tmp_path / "out.parquet", edge_attr=["edge_attr"])
    assert middle.graph.edge_attr.tolist() == [[0, 1], [4, 5], [6, 7]]
    write_edges(tmp_path / "back.npz", middle, np.array([True, True, False]))
    assert read_edges(tmp_path / "back.npz").graph.edge_attr.tolist() == [[0, 1], [4, 5]]
