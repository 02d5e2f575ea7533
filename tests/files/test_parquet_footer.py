"""The footer of a Parquet file: what it declares is checked, and tells the memory of rows, before they are decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import parquet

from lsprune import LSP
from lsprune.errors import FormatError
from lsprune.files import open_edges, read_edges
from lsprune.files.parquet_footer import declared_rows, memory_of_groups, read_footer, read_footers, rows_within
from lsprune.outofcore.stream import prune_stream


def grouped(path: Path, source: object) -> Path:
    target = list(range(len(source)))
    pq.write_table(pa.table({"source": source, "target": target}), path, row_group_size=2)
    return path


@pytest.mark.parametrize("size", [0, 3, 100, -1])
def test_a_truncated_file_in_the_middle_is_found_before_any_work(tmp_path: Path, size: int) -> None:
    for i, name in enumerate("abc"):
        grouped(tmp_path / f"{name}.parquet", [0, 1, i])
    raw = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(raw[:size])
    with pytest.raises(FormatError, match=r"b\.parquet: not a readable Parquet file"):
        open_edges(tmp_path)


def test_a_file_with_a_hole_is_found_by_its_footer(tmp_path: Path) -> None:
    path = grouped(tmp_path / "a.parquet", np.arange(5000))
    raw = path.read_bytes()
    path.write_bytes(raw[:4] + raw[-2000 - int.from_bytes(raw[-8:-4], "little") :])
    with pytest.raises(FormatError, match=r"row group \d+ lies beyond the end of the file|not a readable"):
        open_edges(path)


def test_columns_refused(tmp_path: Path) -> None:
    first = grouped(tmp_path / "a.parquet", [0, 1])
    parquet(tmp_path / "b.parquet", source=[0], other=[1])
    with pytest.raises(FormatError, match=r"b\.parquet: no column 'target'; it has 'source', 'other'"):
        open_edges(tmp_path)
    parquet(tmp_path / "b.parquet", source=pa.array([0], pa.int32()), target=[1])
    with pytest.raises(FormatError, match=rf"b\.parquet: column 'source' is int32, but int64 in {first}; all files"):
        open_edges(tmp_path)
    parquet(tmp_path / "b.parquet", source=[0], target=[1], w=["x"])
    with pytest.raises(FormatError, match=r"a\.parquet: no column 'w'"):
        open_edges(tmp_path, edge_attr=["w"])
    with pytest.raises(FormatError, match=r"b\.parquet: column 'w' must be numbers, got string"):
        open_edges(tmp_path / "b.parquet", edge_attr=["w"])
    with pytest.raises(FormatError, match=r"a\.parquet: no columns a, b for the ends"):
        open_edges(tmp_path, source="a", target="b")


def test_rows_that_grow_later_are_reckoned_with_and_dictionaries_are_not_counted_twice(tmp_path):
    ends = {"source": np.zeros(6000, np.int64), "target": np.ones(6000, np.int64)}
    grows = pa.array(["x"] * 3000 + [f"{i:05}" * 400 for i in range(3000)])
    pq.write_table(pa.table({**ends, "text": grows}), tmp_path / "a.parquet", row_group_size=3000)
    assert open_edges(tmp_path / "a.parquet").row_bytes >= 2000
    words = pa.array([f"a long word with the number {i}" for i in range(6000)]).dictionary_encode()
    pq.write_table(pa.table({**ends, "word": words}), tmp_path / "b.parquet")
    assert open_edges(tmp_path / "b.parquet").row_bytes < 100


def test_row_groups_and_types_are_as_written(tmp_path: Path) -> None:
    first, second = grouped(tmp_path / "a.parquet", [0, 1, 2, 3, 4]), grouped(tmp_path / "b.parquet", [5])
    a, b = read_footers([first, second], ["a", "b"])
    assert (a.groups, a.rows, a.first, a.last) == ((0, 2, 4, 5), 5, 0, 5)
    assert (b.name, b.first, b.last) == ("b", 5, 6)
    assert a.types == {"source": pa.int64(), "target": pa.int64()}
    assert [a.group(row) for row in range(7)] == [0, 0, 1, 1, 2, 2, 2]
    assert a.place(3) == "row 3 (row group 1)"
    assert declared_rows(first) == 5


def test_in_memory_and_streaming_refuse_the_same_footers(tmp_path: Path) -> None:
    path = grouped(tmp_path / "a.parquet", np.arange(5000))
    raw = path.read_bytes()
    for content in (raw[:-1], raw[:4] + raw[-2000 - int.from_bytes(raw[-8:-4], "little") :], b""):
        path.write_bytes(content)
        messages = set()
        for read in (read_footer, read_edges, open_edges):
            with pytest.raises(FormatError) as caught:
                read(path)
            messages.add(str(caught.value))
        assert len(messages) == 1
        assert declared_rows(path) is None or len(content) > 2000
    with pytest.raises(FormatError, match="column 'a' is there more than once"):
        twice = pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])
        pq.write_table(twice, path)
        read_footer(path)
    with pytest.raises(FileNotFoundError):
        read_footer(tmp_path / "absent.parquet")


@pytest.mark.parametrize("dictionary", [True, False])
def test_what_decoding_takes_is_known_before(tmp_path: Path, dictionary: bool) -> None:
    columns = {"i": np.arange(3000, dtype=np.int32), "text": ["x" * 50] * 3000}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1000, use_dictionary=dictionary)
    with pq.ParquetFile(path) as file:
        size = file.read().nbytes
        for available in (10**9, size + 1000):  # texts are counted only where that decides
            groups = memory_of_groups(path, file, available)
            assert [group.rows for group in groups] == [1000] * 3
            assert sum(group.fixed for group in groups) <= 1.1 * size
            assert sum(group.most for group in groups) >= 0.9 * size
        assert sum(group.most for group in memory_of_groups(path, file, size + 1000)) <= 1.1 * size
        assert groups[0].rows_within(10**9) >= 1000 > groups[0].rows_within(10)
        within = rows_within(path, file, 5000, None)
        assert within == (100 if dictionary else 5000)
        assert rows_within(path, file, 5000, ["i"]) == 5000


def test_a_column_of_two_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"source": [0], "weight": [1]}), path, store_schema=False)
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")  # old versions have a copy before it
    at = content.index(b"weight", footer)  # in the schema; in the row group it stands behind that
    path.write_bytes(content[:at] + b"W" + content[at + 1 :])
    with pytest.raises(FormatError, match="row group 0 has a column 'weight' that is 'Weight' in the schema; damaged"):
        read_footer(path)


NOTHING = {name: pa.nulls(0) for name in ("source", "target", "w", "t")}  # as pandas writes a table without rows


DOUBLES = {name: pa.array([], pa.float64()) for name in NOTHING}  # as other versions of pandas do


@pytest.mark.parametrize("nothing", [NOTHING, DOUBLES], ids=["null", "double"])
@pytest.mark.parametrize("empty", ["0.parquet", "2.parquet"])
def test_a_part_without_rows_goes_with_any_type(tmp_path: Path, empty: str, nothing: dict[str, pa.Array]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    columns = {"source": pa.array([0, 1, 2], pa.int32()), "target": [1, 2, 0], "w": [[1.0, 2.0]] * 3, "t": [5, 6, 7]}
    parquet(folder / "1.parquet", **columns)
    parquet(folder / empty, **nothing)
    edges = open_edges(folder, edge_attr=["w"], columns=["t"])
    (batch,) = edges.batches(8, attributes=True, columns=["t"])
    assert (edges.dtype, edges.attr_shape, edges.columns["t"]) == (np.int64, (2,), np.int64)
    assert (batch.source.tolist(), batch.edge_attr.tolist()) == ([0, 1, 2], [[1.0, 2.0]] * 3)
    assert batch.columns["t"].tolist() == [5, 6, 7]
    prune_stream(folder, tmp_path / "out", LSP(k=1, hash="identity"))
    assert pq.read_table(tmp_path / "out" / "1.parquet").num_rows == 3
    assert pq.read_schema(tmp_path / "out" / empty) == pq.read_schema(folder / empty)


@pytest.mark.parametrize("first", [True, False])
def test_a_part_with_rows_whose_column_is_null_is_refused(tmp_path: Path, first: bool) -> None:
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    parquet(paths[0], **NOTHING)
    parquet(paths[1 if first else 2], source=pa.nulls(2), target=[0, 1])
    parquet(paths[2 if first else 1], source=[0, 1], target=[1, 0])
    with pytest.raises(FormatError, match="column 'source' is (null, but int64|int64, but null) in .* the same type"):
        open_edges(tmp_path)
    parquet(paths[2 if first else 1], source=pa.nulls(1), target=[1])
    with pytest.raises(FormatError, match="a value is missing"):
        list(open_edges(tmp_path).batches(8))


def test_parts_that_all_have_no_rows_may_have_several_types(tmp_path: Path) -> None:
    for number, columns in enumerate((NOTHING, DOUBLES, {name: pa.array([], pa.int64()) for name in NOTHING})):
        parquet(tmp_path / f"{number}.parquet", **columns)
    edges = open_edges(tmp_path, edge_attr=["w"], columns=["t"])
    assert (edges.edges, list(edges.batches(8)), edges.columns["t"]) == (0, [], np.float64)


def test_a_file_without_rows_in_memory(tmp_path: Path) -> None:
    parquet(tmp_path / "edges.parquet", **NOTHING)
    parquet(tmp_path / "nodes.parquet", id=pa.nulls(0), x=pa.nulls(0))
    graph = read_edges(tmp_path / "edges.parquet", edge_attr=["w"], features=tmp_path / "nodes.parquet").graph
    assert (graph.num_edges, graph.num_nodes, graph.edge_attr.shape) == (0, 0, (0,))
    parquet(tmp_path / "edges.parquet", source=[0], target=[1], w=pa.nulls(1))
    with pytest.raises(FormatError, match="column 'w', row 0.*: a value is missing"):
        read_edges(tmp_path / "edges.parquet", edge_attr=["w"])
    for read in (open_edges, read_edges):
        with pytest.raises(FormatError, match="column 'w', row 0.*: a value is missing"):
            read(tmp_path / "edges.parquet", edge_attr=["w"])
