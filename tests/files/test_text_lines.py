"""Lines of text: which are edges, in blocks of any size; their bytes, places and values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from files_helpers import text
from hypothesis import given
from hypothesis import strategies as st

from lsprune.errors import FormatError, OptionError
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.text_lines import edge_lines, first_edge, layout_of, read_blocks, read_lines

LINE = st.sampled_from([b"0 1\n", b" 2 3 \n", b"# c\n", b"%c\n", b"\n", b" \t\r\n", b"4 5\r\n"])


def is_edge(line: bytes) -> bool:
    return bool(line.strip()) and line[:1] not in b"#%"


@given(st.lists(LINE, min_size=1, max_size=12))
def test_comments_and_blank_lines_are_no_edges(lines: list[bytes]) -> None:
    data = np.frombuffer(b"".join(lines), np.uint8)
    starts, stops = edge_lines(data, anywhere=True)
    assert [bytes(data[lo:hi]) for lo, hi in zip(starts, stops, strict=True)] == list(filter(is_edge, lines))
    # in CSV a comment stands only above the first edge, and below it is data
    starts, stops = edge_lines(data, anywhere=False)
    first = next((i for i, line in enumerate(lines) if is_edge(line)), len(lines))
    below = [line for line in lines[first:] if line.strip()]
    assert [bytes(data[lo:hi]) for lo, hi in zip(starts, stops, strict=True)] == below


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_blocks_of_any_size_give_the_same_lines(tmp_path: Path, size: int) -> None:
    path = text(tmp_path / "a.txt", "# top\nsource target w\n0 1 5\n\n# more\n1 2 6\n2 3 7\n")
    layout = layout_of(first_edge(path, 5)[0], path, None, None)
    assert (layout.header, layout.columns, layout.ends) == (
        b"source target w\n", ("source", "target", "w"), ("source", "target"),
    )  # fmt: skip
    blocks = list(read_lines(layout, size))
    assert b"".join(lines.body() for lines in blocks) == b"0 1 5\n1 2 6\n2 3 7\n"
    places = [lines.place(i) for lines in blocks for i in range(len(lines))]
    assert places == ["line 3", "line 6", "line 7"]
    tables = [lines.parse({"target": pa.int64(), "w": None}) for lines in blocks]
    assert pa.concat_tables(tables).to_pydict() == {"target": [1, 2, 3], "w": [5, 6, 7]}


def test_kept_lines_are_those_of_the_mask(tmp_path: Path) -> None:
    path = text(tmp_path / "a.txt", "0 1\n#\n1  2\n 2 3\n")
    (lines,) = read_lines(layout_of(b"0 1\n", path, None, None), 100)
    assert lines.body(np.array([True, False, True])) == b"0 1\n 2 3\n"
    assert lines.body(np.zeros(3, bool)) == b""
    assert lines.line(1) == b"1  2\n"


@pytest.mark.parametrize(
    ("first", "name", "columns", "header"),
    [
        (b"0,1\n", "a.csv", ("source", "target"), False),
        (b"-1 2e3 x\n", "a.txt", ("source", "target", "column_2"), False),
        (b"from,to,0\n", "a.csv", ("from", "to", "0"), True),
        (b"s,t\n", "a.edges", ("s", "t"), True),
        (b"s t\n", "a.edges.gz", ("s", "t"), True),
        (b"", "a.csv", ("source", "target"), False),
    ],
)
def test_a_header_is_a_line_that_can_be_no_edge(first: bytes, name: str, columns: tuple, header: bool) -> None:
    layout = layout_of(first, Path(name), None, None)
    assert (layout.columns, bool(layout.header)) == (columns, header)


@pytest.mark.parametrize("size", [8, 12, 100])
def test_a_line_break_in_quotes_is_found_at_the_end_of_a_block_too(tmp_path: Path, size: int) -> None:
    path = text(tmp_path / "a.csv", '0,1,"a\n1,2,b"\n2,3,c\n')
    layout = layout_of(b"0,1,x\n", path, None, None)
    with pytest.raises(FormatError, match=r"a\.csv: line breaks inside quotes are not supported"):
        for lines in read_lines(layout, size):
            lines.parse(dict.fromkeys(layout.ends, pa.int64()))


def test_blocks_count_their_bytes(tmp_path: Path) -> None:
    path, budget = text(tmp_path / "a.csv", "0,1\n" * 100), MemoryBudget.of(1000)
    assert sum(data.size for _, data in read_blocks(path, 37, budget)) == 400
    assert budget.left == 600
    with pytest.raises(OptionError, match=r"a\.csv: needs more than 399 bytes in memory, but only 399 bytes"):
        list(read_blocks(path, 37, MemoryBudget.of(399)))
    with pytest.raises(OptionError, match="needs more than 1 bytes in memory"):
        list(read_blocks(path, 37, MemoryBudget.of(1)))
    assert [before for before, _ in read_blocks(path, 40, None)][:3] == [0, 10, 20]
