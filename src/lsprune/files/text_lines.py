"""Lines of a text edge list: which of them are edges, how their columns are named, and their values by Arrow.

Arrow's CSV reader parses the values. It does not say where a line begins and ends, and that is needed to write kept
lines back byte for byte: what pruning does not need it does not parse, so that `007` stays `007`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line
from lsprune.files.columns import choose_ends, refuse_repeated
from lsprune.files.compression import unpacked
from lsprune.files.memory_budget import MemoryBudget, show_size
from lsprune.files.suffixes import uncompressed
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATORS = {".csv": ",", ".tsv": "\t"}  # any other suffix: white space
_MAX_LINE_BYTES = 1 << 24
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BREAK = ord("\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # as spreadsheets write it
# by byte: a table is read several times faster than np.isin compares
_COMMENT, _INK = (np.isin(np.arange(256), list(values)) for values in (b"#%", set(range(256)) - set(b" \t\r\n")))


@dataclass(frozen=True)
class Layout:
    """What the first line that is no comment tells about a text file."""

    path: Path
    suffix: str  # without .gz or .zst
    header: bytes  # that line, when it names the columns
    separator: str  # "" = white space
    columns: tuple[str, ...]
    ends: tuple[str, str]  # empty names in a table of nodes


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a text file, one for each edge."""

    layout: Layout
    data: Array  # [bytes] uint8: the block of the file that these lines are in
    starts: Array  # [E] int32: where each edge's line begins, and
    stops: Array  # [E] int32: ends, line break included
    before: int  # lines of the file before this block

    def __len__(self) -> int:
        return int(self.starts.shape[0])

    def line(self, position: int) -> bytes:
        """Return the line of an edge."""
        return bytes(self.data[self.starts[position] : self.stops[position]].data)

    def body(self, mask: Array | None = None) -> bytes:
        """Return the bytes of the kept lines, or of all of them."""
        starts, stops = (self.starts, self.stops) if mask is None else (self.starts[mask], self.stops[mask])
        if starts.size == 0:
            return b""
        if mask is None and np.array_equal(starts[1:], stops[:-1]):
            return bytes(self.data[starts[0] : stops[-1]].data)
        # +1 where a kept line begins, -1 where it ends: the running sum marks its bytes.
        edge = np.zeros(self.data.shape[0] + 1, np.int8)
        edge[starts] += 1
        edge[stops] -= 1
        return self.data[np.cumsum(edge[:-1], dtype=np.int8).view(np.bool_)].tobytes()

    def place(self, position: int) -> str:
        """Return how an error names the line of an edge."""
        return f"line {self.before + int(np.count_nonzero(self.data[: self.starts[position]] == _BREAK)) + 1}"

    def parse(self, types: Mapping[str, Any]) -> pa.Table:
        """Return these columns as an Arrow table, each in its type, or in one that Arrow finds where that is None.

        Raise pyarrow's own error where a value does not fit its type.
        """
        table = parse_lines(self.body(), self.layout, types)
        if table.num_rows != len(self) or self._ends_in_quotes():
            raise FormatError(f"{self.layout.path}: line breaks inside quotes are not supported; use Parquet")
        return table

    def _ends_in_quotes(self) -> bool:
        """Return whether the last line opens quotes that it does not close: with a second one it becomes one row."""
        import pyarrow as pa

        last = self.line(-1) if len(self) and self.layout.separator else b""
        try:
            return b'"' in last and parse_lines(last * 2, self.layout, {}).num_rows != 2
        except pa.ArrowException:
            return True


def parse_lines(body: bytes, layout: Layout, types: Mapping[str, Any]) -> pa.Table:
    """Return columns of the lines in `body`, which have no header; no types: all columns, as Arrow finds them."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if not body:
        return pa.table({name: pa.array([], kind or pa.null()) for name, kind in types.items()})
    separator = layout.separator
    return arrow_csv.read_csv(
        pa.py_buffer(body if separator else _single_spaces(body)),
        read_options=arrow_csv.ReadOptions(column_names=list(layout.columns)),
        parse_options=arrow_csv.ParseOptions(delimiter=separator or " ", quote_char='"' if separator else False),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(types), column_types={name: kind for name, kind in types.items() if kind is not None}
        ),
    )


def first_edge(path: Path, size: int) -> tuple[bytes, int]:
    """Return the first line of a file that is neither blank nor a comment, and about how many bytes its lines have."""
    if uncompressed(path.name.lower()) == path.name.lower():
        _check_end(path)
    length = 1
    for _, data in read_blocks(path, size):
        starts, stops = edge_lines(data, comments_anywhere(path))
        length = max(length, -(-data.size // int(np.count_nonzero(data == _BREAK))))
        if starts.size:
            return bytes(data[starts[0] : stops[0]].data), length
    return b"", length


def table_layout(first: bytes, path: Path) -> Layout:
    """Return the layout of a table of nodes, whose first line that is neither blank nor a comment names the columns."""
    suffix, separator, fields = _first_fields(first, path)
    if _header(fields) is None:
        got = ", ".join(fields[:3])[:40]
        raise FormatError(f"{path}: the first line must name the columns of the nodes, such as id,age, got {got!r}")
    refuse_repeated(fields, path)
    return Layout(path, suffix, first, separator, tuple(fields), ("", ""))


def layout_of(first: bytes, path: Path, source: str | None, target: str | None) -> Layout:
    """Return the layout of a file whose first line that is neither blank nor a comment is `first` (b"": none)."""
    suffix, separator, fields = _first_fields(first, path)
    names = _header(fields)
    columns = names or ("source", "target", *(f"column_{i}" for i in range(2, len(fields))))
    if fields and len(fields) < 2:
        raise FormatError(f"{path}: needs two columns for the ends of an edge, got one ({fields[0][:40]!r})")
    ends = choose_ends(columns, source, target, path)
    return Layout(path, suffix, b"" if names is None else first, separator, columns, ends)


def comments_anywhere(path: Path) -> bool:
    """Return whether a comment may stand below the top: in white-space lists; in CSV `#` may be data there."""
    return _text_suffix(path) not in SEPARATORS


def read_lines(layout: Layout, size: int, memory: MemoryBudget | None = None) -> Iterator[Lines]:
    """Yield the edges of a file, a block of about `size` bytes at a time; with `memory` blocks are counted there."""
    top = True
    for before, data in read_blocks(layout.path, size, memory):
        starts, stops = edge_lines(data, comments_anywhere(layout.path), top)
        skip = 1 if top and starts.size and layout.header else 0
        top = top and not starts.size
        if starts.size > skip:
            yield Lines(layout, data, starts[skip:], stops[skip:], before)


def read_blocks(path: Path, size: int, memory: MemoryBudget | None = None) -> Iterator[tuple[int, Array]]:
    """Yield blocks of whole lines, about `size` bytes each, and the number of lines before each.

    OptionError if all blocks together exceed `memory`: how long a compressed file is shows only as it is read.
    FormatError for a file whose last line has no line break, because that is what a file cut short looks like.
    """
    before = 0
    room = None if memory is None else memory.left
    with unpacked(path) as stream:
        head = stream.read(len(_BYTE_ORDER_MARK))
        carry = b"" if head == _BYTE_ORDER_MARK else head
        empty, total = not carry, len(carry)
        while chunk := stream.read(size if room is None else min(size, max(1, room - total + 1))):
            total += len(chunk)
            if memory is not None and room is not None and total > room:
                raise memory.refusal(f"needs more than {show_size(room)}", path)
            empty, cut = False, chunk.rfind(b"\n") + 1
            if cut == 0:
                carry += chunk
                if len(carry) > _MAX_LINE_BYTES:
                    raise FormatError(
                        f"{path}: line {before + 1} is longer than {_MAX_LINE_BYTES} bytes; no edge list?"
                    )
                continue
            data = np.frombuffer(carry + chunk[:cut], np.uint8)
            carry = chunk[cut:]
            yield before, data
            before += int(np.count_nonzero(data == _BREAK))
    if memory is not None:
        memory.take(total, path)
    if empty:
        raise FormatError(f"{path}: the file is empty")
    if carry and not carry.endswith(b"\n"):
        raise _cut_short(path)
    if carry:
        yield before, np.frombuffer(carry, np.uint8)


def edge_lines(data: Array, anywhere: bool, top: bool = True) -> tuple[Array, Array]:
    """Return starts and stops of the lines in a block of whole lines that are neither blank nor comments.

    A comment may stand `anywhere`, or only at the `top` of the file.
    """
    stops = np.flatnonzero(data == _BREAK) + 1
    starts = np.concatenate([[0], stops[:-1]])
    full = np.logical_or.reduceat(_INK[data], starts)
    comment = _COMMENT[data[starts]]
    if not anywhere:
        comment = np.logical_and.accumulate(comment | ~full) & comment & top
    real = full & ~comment
    return starts[real].astype(np.int32), stops[real].astype(np.int32)  # a block is far smaller than 2 GiB


def refuse_wrong_ids(lines: Lines, hint: str = "") -> None:
    """Raise FormatError with the line at fault if it has the wrong number of fields or an end is no whole number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends, path = lines.layout.ends, lines.layout.path
    try:
        table = lines.parse({name: pa.string() for name in ends})
    except pa.ArrowException as damage:
        raise FormatError(f"{path}: {wrong_line(lines) or first_line(damage)}") from None
    for name in ends:
        fits = pc.match_substring_regex(table[name], r"^\s*-?\d{1,18}\s*$")
        wrong = pc.index(fits, False).as_py()
        if wrong >= 0:
            value = table[name][wrong].as_py()[:40]
            where = f"{path}: column {name!r}, {lines.place(wrong)}"
            raise FormatError(f"{where}: ids must be whole numbers in 63 bits, got {value!r}{hint}")


def wrong_line(lines: Lines) -> str | None:
    """Return what is wrong with the first line that has another number of fields than the columns; None without."""
    count = len(lines.layout.columns)
    for i in range(len(lines)):
        with suppress(FormatError):
            fields = len(_fields(lines.line(i), lines.layout.separator, lines.layout.path))
            if fields != count:
                return f"{lines.place(i)}: {fields} fields where {count} are expected"
    return None


def _first_fields(first: bytes, path: Path) -> tuple[str, str, list[str]]:
    """Return the suffix without a compression, the separator ("": white space) and the fields of a line."""
    suffix = _text_suffix(path)
    separator = SEPARATORS.get(suffix, "," if b"," in first else "")
    return suffix, separator, _fields(first, separator, path)


def _text_suffix(path: Path) -> str:
    return Path(uncompressed(path.name.lower())).suffix


def _check_end(path: Path) -> None:
    with path.open("rb") as handle:
        size = handle.seek(0, 2)
        handle.seek(max(0, size - 1))
        if handle.read(1) not in (b"\n", b""):
            raise _cut_short(path)


def _cut_short(path: Path) -> FormatError:
    return FormatError(f"{path}: cut short? The last line has no line break; add one if the file is whole")


def _fields(line: bytes, separator: str, path: Path) -> list[str]:
    try:
        text = line.decode().strip("\r\n")
        if not separator:
            return text.split()
        return [field.strip() for field in next(csv.reader([text], delimiter=separator), [])]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path}: not readable as UTF-8 text ({first_line(error)})") from None


def _header(fields: list[str]) -> tuple[str, ...] | None:
    # One of the first two fields is no number: such a line can be no edge of a list without a header.
    return tuple(fields) if any(not _NUMBER.fullmatch(field) for field in fields[:2]) else None


def _single_spaces(body: bytes) -> bytes:
    body = body.replace(b"\t", b" ").replace(b"\r", b"")
    while b"  " in body:
        body = body.replace(b"  ", b" ")
    return body.replace(b"\n ", b"\n").replace(b" \n", b"\n").removeprefix(b" ")
