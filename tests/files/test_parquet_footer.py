"""The footer of a Parquet file: what it declares is checked, and tells the memory of rows, before they are decoded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from files_helpers import parquet

from lsprune.errors import FormatError
from lsprune.files import open_edges, read_edges
from lsprune.files.parquet_footer import declared_rows, memory_of_groups, read_footer, read_footers, rows_within


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
