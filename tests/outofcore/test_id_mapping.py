"""Ids of any kind as numbers 0..N-1 in the order of first appearance, with the mapping in a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import names, parquet, save, text
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_helpers import together, write_all

from lsprune.errors import FormatError, OptionError
from lsprune.files import open_edges
from lsprune.outofcore.id_mapping import map_ids

MEMORY = 10**8


def expected(source: list, target: list) -> dict:
    found: dict = {}
    for pair in zip(source, target, strict=True):
        for one in pair:
            found.setdefault(one, len(found))
    return found


def check(path: Path, source: list, target: list, rows: int) -> None:
    numbers, out = expected(source, target), path.parent / "map.parquet"
    mapped = map_ids(open_edges(path), out, memory=MEMORY, rows=rows)
    assert mapped.nodes == len(numbers)
    ends = together(mapped, rows)
    assert ends[0].tolist() == [numbers[one] for one in source]
    assert ends[1].tolist() == [numbers[one] for one in target]
    table = pq.ParquetFile(out).read()
    assert dict(zip(table["id"].to_pylist(), table["node"].to_pylist(), strict=True)) == numbers
    assert table["node"].to_pylist() == list(range(len(numbers)))
    assert (mapped.entry.name, mapped.entry.rows) == ("map.parquet", len(numbers))


words = st.text("ab\u00e9 7", min_size=1, max_size=3).filter(lambda word: word.strip() == word)
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 12), st.sampled_from(["string", "large_string", "dictionary", "int64", "csv", "npz"]))
def test_numbers_in_the_order_of_appearance(data: st.DataObject, rows: int, kind: str) -> None:
    values = integers if kind in ("int64", "npz") else words
    pairs = data.draw(st.lists(st.tuples(values, values), max_size=25))
    source, target = [s for s, _ in pairs], [t for _, t in pairs]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in"
        if kind == "csv":
            path = text(path.with_suffix(".csv"), "source,target\n" + "".join(f"{s},{t}\n" for s, t in pairs))
        elif kind == "npz":
            ends = [np.array(end, np.int64) for end in (source, target)]
            path = save(path.with_suffix(".npz"), source=ends[0], target=ends[1])
        else:
            as_type = {"large_string": pa.large_string(), "int64": pa.int64()}.get(kind, pa.string())
            columns = [pa.array(end, as_type) for end in (source, target)]
            columns = [c.dictionary_encode() for c in columns] if kind == "dictionary" else columns
            path = path.with_suffix(".parquet")
            pq.write_table(pa.table(columns, ["source", "target"]), path, row_group_size=4)
        check(path, source, target, rows)


def test_shards_keep_the_ids_and_attributes_stay_in_step(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", s=["x", "y", "x"], t=["y", "z", "z"], w=[1.0, 2.0, 3.0])
    mapped = map_ids(open_edges(path, edge_attr=["w"]), tmp_path / "map.parquet", memory=MEMORY, rows=2)
    assert together(mapped, 2, attributes=True)[2].tolist() == [1, 2, 3]
    assert (mapped.attr_shape, mapped.attr_dtype, mapped.dtype) == ((), np.float64, np.int32)
    write_all(mapped, tmp_path / "out.parquet", np.array([True, False, True]), 2)
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"s": ["x", "x"], "t": ["y", "z"], "w": [1.0, 3.0]}


def test_text_ids_are_as_they_are_written(tmp_path: Path) -> None:
    path = text(tmp_path / "in.csv", "s, t\n007, 7\n7,x y\n")
    check(path, ["007", "7"], ["7", "x y"], 5)


def test_no_edges(tmp_path: Path) -> None:
    path = parquet(tmp_path / "in.parquet", s=pa.array([], pa.string()), t=pa.array([], pa.string()))
    mapped = map_ids(open_edges(path), tmp_path / "map.parquet", memory=MEMORY)
    assert (mapped.nodes, list(mapped.batches(3))) == (0, [])
    assert pq.read_table(tmp_path / "map.parquet").column_names == ["id", "node"]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["a", None], ["b", "c"], r"column 's', row 1 \(row group 0\): a value is missing"),
        ([1.0, 2.0], [1.0, 2.0], "column 's': ids must be whole numbers or strings, got double"),
        (["a", "b"], [1, 2], "column 's' has string and 't' int64 ids"),
        (pa.array([2**63], pa.uint64()), pa.array([1], pa.uint64()), "column 's': Integer value 9223372036854775808"),
    ],
)
def test_refused(tmp_path: Path, source: object, target: object, message: str) -> None:
    path = parquet(tmp_path / "in.parquet", s=source, t=target)
    with pytest.raises(FormatError, match=message) as caught:
        map_ids(open_edges(path), tmp_path / "map.parquet", memory=MEMORY)
    assert str(path) in str(caught.value)
    assert names(tmp_path) == ["in.parquet"]


def test_missing_text_ids_are_named_by_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="column 't', line 3: a value is missing"):
        map_ids(open_edges(text(tmp_path / "in.csv", "s,t\na,b\nc,\n")), tmp_path / "map.parquet", memory=MEMORY)


@pytest.mark.parametrize("kind", [str, int])
def test_more_ids_than_fit_are_refused_with_what_they_need(tmp_path: Path, kind: type) -> None:
    source, target = [kind(i) for i in range(5000)], [kind(i + 10**6) for i in range(5000)]
    path = parquet(tmp_path / "in.parquet", s=source, t=target)
    whole = map_ids(open_edges(path), tmp_path / "map.parquet", memory=MEMORY).memory
    (tmp_path / "map.parquet").unlink()
    with pytest.raises(
        OptionError, match=r"distinct ids do not fit in .* [kM]B: \d+ of them in the first \d+ of 5000 edges"
    ) as caught:
        map_ids(open_edges(path), tmp_path / "map.parquet", memory=whole // 3, rows=100)
    assert "all need up to about" in str(caught.value)
    assert names(tmp_path) == ["in.parquet"]
    assert map_ids(open_edges(path), tmp_path / "map.parquet", memory=whole, rows=100).nodes == 10_000


def test_a_file_with_new_ids_was_changed(tmp_path: Path) -> None:
    for first, second in ((["a"], ["b"]), ([5], [7])):
        path = parquet(tmp_path / "in.parquet", s=first, t=first)
        mapped = map_ids(open_edges(path), tmp_path / "map.parquet", memory=MEMORY)
        parquet(path, s=second, t=second)
        with pytest.raises(FormatError, match="it was changed while it was read"):
            list(mapped.batches(5))
