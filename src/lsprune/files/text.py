"""Edge lists as text: `.csv`, `.tsv`, and the white-space lists of SNAP and others, plain, gzipped or as zstd.

Kept lines are written back byte for byte when the format stays the same: what pruning does not need it does not parse,
so that `007` stays `007`. A file whose last line has no line break is refused, because that is what a file cut short
looks like.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from lsprune.errors import FormatError
from lsprune.files.content import Edges, choose, need
from lsprune.files.memory_budget import MemoryBudget, show_size
from lsprune.files.parquet import first_line, from_table, write_table
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_SEPARATOR = {".csv": ",", ".tsv": "\t"}  # any other suffix: white space
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BREAK = ord("\n")
# by byte: a table is read several times faster than np.isin compares
_COMMENT, _INK = (np.isin(np.arange(256), list(some)) for some in (b"#%", set(range(256)) - set(b" \t\r\n")))
NO_EDGES = b"# no edges\n"
_READ = 1 << 20  # bytes read at a time
MARK = b"\xef\xbb\xbf"  # a byte order mark, as spreadsheets write it


@dataclass(frozen=True)
class Layout:
    """What the first line that is no comment tells about a text file."""

    path: Path
    suffix: str  # without .gz or .zst
    header: bytes  # that line, when it names the columns
    separator: str  # "" = white space
    columns: tuple[str, ...]
    ends: tuple[str, str]

    @property
    def comments_anywhere(self) -> bool:
        """Whether a comment may stand below the top."""
        return self.suffix not in _SEPARATOR


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a text file, one for each edge."""

    layout: Layout
    data: Array  # [bytes] uint8: the whole file, or the block of it that these lines are in
    starts: Array  # [E] where each edge's line begins, and
    stops: Array  # [E] ends, line break included
    numbers: Array  # [E] line numbers in the file, from 1

    def check(self, nodes: tuple[int, ...]) -> None:
        """Nothing: every column belongs to the edges."""

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept lines as they are, or as rows of a table where the format changes."""
        header = self.layout.header
        if uncompressed(suffix) != self.layout.suffix:
            import pyarrow as pa

            write_table(handle, suffix, self._all_columns().filter(pa.array(mask)), self.layout.ends)
            return
        with packed(handle, suffix) as sink:
            body = self.body(mask)
            sink.write(header + body if header or body else NO_EDGES)

    def body(self, mask: Array | None = None) -> bytes:
        """The bytes of the kept lines, or of all of them."""
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
        """How the line of an edge is named in an error."""
        return f"line {int(self.numbers[position])}"

    def parse(self, columns: tuple[str, ...], types: Mapping[str, Any]) -> pa.Table:
        """The named columns as an Arrow table; raises pyarrow's own error where a value does not fit its type."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        body, separator = self.body(), self.layout.separator
        if not body:
            return pa.table({name: pa.array([], types.get(name, pa.null())) for name in columns})
        table = arrow_csv.read_csv(
            pa.py_buffer(body if separator else _single_spaces(body)),
            read_options=arrow_csv.ReadOptions(column_names=list(self.layout.columns)),
            parse_options=arrow_csv.ParseOptions(delimiter=separator or " ", quote_char='"' if separator else False),
            convert_options=arrow_csv.ConvertOptions(include_columns=list(columns), column_types=dict(types)),
        )
        if table.num_rows != self.starts.shape[0]:
            raise FormatError(f"{self.layout.path}: line breaks inside quotes are not supported; use Parquet")
        return table

    def _all_columns(self) -> pa.Table:
        import pyarrow as pa

        columns = self.layout.columns
        integers = {name: pa.int64() for name in self.layout.ends}
        try:
            return self.parse(columns, integers)
        except pa.ArrowInvalid:  # a type guessed from the first lines does not hold further on
            return self.parse(columns, {name: pa.string() for name in columns} | integers)


def read(path: Path, source: str | None, target: str | None, edge_attr: tuple[str, ...], memory: MemoryBudget) -> Edges:
    """The edges of a text file."""
    lines = _lines(path, source, target, memory)
    ends = lines.layout.ends
    need(list(lines.layout.columns), edge_attr, path)
    wanted = tuple(dict.fromkeys((*ends, *edge_attr)))
    return from_table(_parse(lines, wanted), ends, edge_attr, path, lines, lines.place)


def write_text(handle: BinaryIO, suffix: str, table: pa.Table, ends: tuple[str, str]) -> None:
    """Write a table as text; a white-space list gets its column names as a comment, as SNAP does."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator = _SEPARATOR.get(uncompressed(suffix), "")
    if not separator:
        table = table.select([*ends, *(name for name in table.column_names if name not in ends)])
        _check_plain(table)
    content = io.BytesIO()
    head = io.StringIO()
    csv.writer(head, delimiter=separator or " ", lineterminator="\n").writerow(table.column_names)
    content.write((head.getvalue() if separator else f"# {head.getvalue()}").encode())
    try:
        arrow_csv.write_csv(table, content, arrow_csv.WriteOptions(include_header=False, delimiter=separator or " "))
    except pa.ArrowException as error:
        raise FormatError(f"cannot be written as text ({first_line(error)}); write .parquet") from None
    with packed(handle, suffix) as sink:
        sink.write(content.getbuffer())


def layout_of(first: bytes, path: Path, source: str | None, target: str | None) -> Layout:
    """The layout of a file whose first line that is neither blank nor a comment is `first` (b"": it has none)."""
    suffix = uncompressed(path.name.lower())
    suffix = suffix[suffix.rindex(".") :]
    separator = _SEPARATOR.get(suffix, "," if b"," in first else "")
    fields = _fields(first, separator, path)
    names = _header(fields)
    columns = names or ("source", "target", *(f"column_{i}" for i in range(2, len(fields))))
    if fields and len(fields) < 2:
        raise FormatError(f"{path}: needs two columns for the ends of an edge, got one ({fields[0][:40]!r})")
    ends = choose(list(columns), source, target, path)
    return Layout(path, suffix, b"" if names is None else first, separator, columns, ends)


def edge_lines(data: Array, anywhere: bool, top: bool = True) -> tuple[Array, Array, Array]:
    """Starts, stops and numbers of the lines that are neither blank nor comments, and blocks of whole lines likewise.

    In white-space lists a comment may stand `anywhere`; in CSV only at the `top`, since further down `#` may be data.
    """
    stops = np.flatnonzero(data == _BREAK) + 1
    starts = np.concatenate([[0], stops[:-1]])
    full = np.logical_or.reduceat(_INK[data], starts)
    comment = _COMMENT[data[starts]]
    if not anywhere:
        comment = np.logical_and.accumulate(comment | ~full) & comment & top
    real = full & ~comment
    return starts[real], stops[real], np.flatnonzero(real) + 1


def explain(lines: Lines, hint: str = "") -> None:
    """Raise with the line at fault, when it has the wrong number of fields or one of its ends is no whole number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends, path = lines.layout.ends, lines.layout.path
    try:
        table = lines.parse(ends, {name: pa.string() for name in ends})
    except pa.ArrowException as damage:
        raise FormatError(f"{path}: {odd_line(lines) or first_line(damage)}") from None
    for name in ends:
        fits = pc.match_substring_regex(table[name], r"^\s*-?\d{1,18}\s*$")
        wrong = pc.index(fits, False).as_py()
        if wrong >= 0:
            value = table[name][wrong].as_py()[:40]
            where = f"{path}: column {name!r}, {lines.place(wrong)}"
            raise FormatError(f"{where}: ids must be whole numbers in 63 bits, got {value!r}{hint}")


def uncompressed(name: str) -> str:
    """A name or suffix without that of its compression."""
    return name.removesuffix(".gz").removesuffix(".zst")


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes as a stream, without their compression; damage in that is a FormatError."""
    name = path.name.lower()
    with path.open("rb") as raw:
        if name.endswith(".gz"):
            with _damaged(path, "gzip"), gzip.GzipFile(fileobj=raw) as stream:
                yield cast(BinaryIO, stream)
        elif name.endswith(".zst"):
            import pyarrow as pa

            with _damaged(path, "zstd"), pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd") as stream:
                yield stream
        else:
            yield raw


@contextmanager
def packed(handle: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """A stream into `handle` that compresses as the suffix says; the same bytes for the same content."""
    if suffix.endswith(".gz"):
        # no name, no date: same bytes
        with gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as stream:
            yield cast(BinaryIO, stream)
    elif suffix.endswith(".zst"):
        import pyarrow as pa

        with pa.CompressedOutputStream(pa.PythonFile(_StaysOpen(handle), mode="w"), "zstd") as stream:
            yield stream
    else:
        yield handle


class _StaysOpen(io.RawIOBase):
    """A handle as Arrow may close it: the one underneath is flushed and renamed afterwards."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._handle.write(data)


@contextmanager
def _damaged(path: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except FormatError:
        raise
    except (EOFError, OSError, zlib.error) as error:
        raise FormatError(f"{path}: not a readable {kind} file ({first_line(error)})") from None


def _lines(path: Path, source: str | None, target: str | None, memory: MemoryBudget) -> Lines:
    data = _read_bytes(path, memory)
    suffix = Path(uncompressed(path.name.lower())).suffix
    starts, stops, numbers = edge_lines(data, anywhere=suffix not in _SEPARATOR)
    layout = layout_of(bytes(data[starts[0] : stops[0]].data) if starts.size else b"", path, source, target)
    skip = 1 if layout.header else 0
    return Lines(layout, data, starts[skip:], stops[skip:], numbers[skip:])


def _parse(lines: Lines, wanted: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    integers = {name: pa.int64() for name in lines.layout.ends}
    try:
        return lines.parse(wanted, integers)
    except pa.ArrowException:
        explain(lines)
        # The ends are sound, so an attribute turned from whole numbers to decimals further on than Arrow looks.
        floats = {name: pa.float64() for name in wanted if name not in lines.layout.ends}
        try:
            return lines.parse(wanted, integers | floats)
        except pa.ArrowException as again:
            raise FormatError(f"{lines.layout.path}: not a readable edge list ({first_line(again)})") from None


def odd_line(lines: Lines) -> str | None:
    """What is wrong with the first line that has another number of fields than the columns."""
    count = len(lines.layout.columns)
    for i in range(lines.starts.shape[0]):
        line = bytes(lines.data[lines.starts[i] : lines.stops[i]].data)
        with suppress(FormatError):
            fields = len(_fields(line, lines.layout.separator, lines.layout.path))
            if fields != count:
                return f"{lines.place(i)}: {fields} fields where {count} are expected"
    return None


def _read_bytes(path: Path, memory: MemoryBudget) -> Array:
    raw = bytearray()
    with unpacked(path) as stream:
        # how long a compressed file is shows only as it is read
        while block := stream.read(min(_READ, memory.left - len(raw) + 1)):
            raw += block
            if len(raw) > memory.left:
                raise memory.refusal(f"needs more than {show_size(memory.left)}", path)
    memory.take(len(raw), path)
    del raw[: len(MARK) if raw.startswith(MARK) else 0]
    if not raw:
        raise empty(path)
    if not raw.endswith(b"\n"):
        raise cut_short(path)
    return np.frombuffer(raw, np.uint8)


def empty(path: Path) -> FormatError:
    """The error for a file without a byte."""
    return FormatError(f"{path}: the file is empty")


def cut_short(path: Path) -> FormatError:
    """The error for a file that ends within a line."""
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


def _check_plain(table: pa.Table) -> None:
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not plain or column.null_count or re.search(r"\s", name):
            raise FormatError(f"column {name!r} ({column.type}) has no place in a white-space list; write .csv")
