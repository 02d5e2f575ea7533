"""Edge lists as text: `.csv`, `.tsv`, and the white-space lists of SNAP and others, plain or gzipped.

Kept lines are written back byte for byte when the format stays the same: what pruning does not need it does not parse,
so that `007` stays `007`. A file whose last line has no line break is refused, because that is what a file cut short
looks like (EVIDENCE §6).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.adapters.files.content import Edges, choose, need
from lsprune.adapters.files.table import first_line, from_table, write_table
from lsprune.errors import FormatError
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_SEPARATOR = {".csv": ",", ".tsv": "\t"}  # any other suffix: white space
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BREAK, _COMMENTS, _BLANKS = 10, (35, 37), (32, 9, 13, 10)  # \n, "#" and "%", white space
_NO_EDGES = b"# no edges\n"


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a text file, one for each edge."""

    path: Path
    suffix: str  # without .gz
    data: Array  # [bytes] uint8: the whole file
    starts: Array  # [E] where each edge's line begins, and
    stops: Array  # [E] ends, line break included
    numbers: Array  # [E] line numbers in the file, from 1
    header: bytes
    separator: str  # "" = white space
    columns: tuple[str, ...]
    ends: tuple[str, str]

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept lines as they are, or as rows of a table where the format changes."""
        if suffix.removesuffix(".gz") != self.suffix:
            import pyarrow as pa

            write_table(handle, suffix, self._all_columns().filter(pa.array(mask)), self.ends)
            return
        body = self.body(mask)
        _write_bytes(handle, suffix, self.header + body if self.header or body else _NO_EDGES)

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

        body = self.body()
        if not body:
            return pa.table({name: pa.array([], types.get(name, pa.null())) for name in columns})
        table = arrow_csv.read_csv(
            pa.py_buffer(body if self.separator else _single_spaces(body)),
            read_options=arrow_csv.ReadOptions(column_names=list(self.columns)),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator or " ", quote_char='"' if self.separator else False
            ),
            convert_options=arrow_csv.ConvertOptions(include_columns=list(columns), column_types=dict(types)),
        )
        if table.num_rows != self.starts.shape[0]:
            raise FormatError(f"{self.path}: line breaks inside quotes are not supported; use Parquet")
        return table

    def _all_columns(self) -> pa.Table:
        import pyarrow as pa

        integers = {name: pa.int64() for name in self.ends}
        try:
            return self.parse(self.columns, integers)
        except pa.ArrowInvalid:  # a type guessed from the first lines does not hold further on
            return self.parse(self.columns, {name: pa.string() for name in self.columns} | integers)


def read(path: Path, source: str | None, target: str | None, edge_attr: tuple[str, ...]) -> Edges:
    """The edges of a text file."""
    lines = _lines(path, source, target)
    need(list(lines.columns), edge_attr, path)
    wanted = tuple(dict.fromkeys((*lines.ends, *edge_attr)))
    return from_table(_parse(lines, wanted), lines.ends, edge_attr, path, lines, lines.place)


def write_text(handle: BinaryIO, suffix: str, table: pa.Table, ends: tuple[str, str]) -> None:
    """Write a table as text; a white-space list gets its column names as a comment, as SNAP does."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator = _SEPARATOR.get(suffix.removesuffix(".gz"), "")
    if not separator:
        table = table.select([*ends, *(name for name in table.column_names if name not in ends)])
        _check_plain(table)
    sink = io.BytesIO()
    head = io.StringIO()
    csv.writer(head, delimiter=separator or " ", lineterminator="\n").writerow(table.column_names)
    sink.write((head.getvalue() if separator else f"# {head.getvalue()}").encode())
    try:
        arrow_csv.write_csv(table, sink, arrow_csv.WriteOptions(include_header=False, delimiter=separator or " "))
    except pa.ArrowException as error:
        raise FormatError(f"cannot be written as text ({first_line(error)}); write .parquet") from None
    _write_bytes(handle, suffix, sink.getvalue())


def _lines(path: Path, source: str | None, target: str | None) -> Lines:
    suffix = path.name.lower().removesuffix(".gz")
    suffix = suffix[suffix.rindex(".") :]
    data = _read_bytes(path)
    starts, stops, numbers = _edge_lines(data, anywhere=suffix not in _SEPARATOR)
    first = bytes(data[starts[0] : stops[0]].data) if starts.size else b""
    separator = _SEPARATOR.get(suffix, "," if b"," in first else "")
    fields = _fields(first, separator, path)
    names, header = _header(fields), b""
    if names is not None:
        header, starts, stops, numbers = first, starts[1:], stops[1:], numbers[1:]
    columns = names or ("source", "target", *(f"column_{i}" for i in range(2, len(fields))))
    if fields and len(fields) < 2:
        raise FormatError(f"{path}: needs two columns for the ends of an edge, got one ({fields[0][:40]!r})")
    ends = choose(list(columns), source, target, path)
    return Lines(path, suffix, data, starts, stops, numbers, header, separator, columns, ends)


def _parse(lines: Lines, wanted: tuple[str, ...]) -> pa.Table:
    import pyarrow as pa

    integers = {name: pa.int64() for name in lines.ends}
    try:
        return lines.parse(wanted, integers)
    except pa.ArrowException:
        _explain(lines)
        # The ends are sound, so an attribute turned from whole numbers to decimals further on than Arrow looks.
        floats = {name: pa.float64() for name in wanted if name not in lines.ends}
        try:
            return lines.parse(wanted, integers | floats)
        except pa.ArrowException as again:
            raise FormatError(f"{lines.path}: not a readable edge list ({first_line(again)})") from None


def _explain(lines: Lines) -> None:
    """Raise with the line at fault, when it has the wrong number of fields or one of its ends is no whole number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        table = lines.parse(lines.ends, {name: pa.string() for name in lines.ends})
    except pa.ArrowException as damage:
        raise FormatError(f"{lines.path}: {_odd_line(lines) or first_line(damage)}") from None
    for name in lines.ends:
        fits = pc.match_substring_regex(table[name], r"^\s*-?\d{1,18}\s*$")
        wrong = pc.index(fits, False).as_py()
        if wrong >= 0:
            value = table[name][wrong].as_py()[:40]
            where = f"{lines.path}: column {name!r}, {lines.place(wrong)}"
            raise FormatError(f"{where}: ids must be whole numbers in 63 bits, got {value!r}")


def _odd_line(lines: Lines) -> str | None:
    count = len(lines.columns)
    for i in range(lines.starts.shape[0]):
        line = bytes(lines.data[lines.starts[i] : lines.stops[i]].data)
        with suppress(FormatError):
            fields = len(_fields(line, lines.separator, lines.path))
            if fields != count:
                return f"{lines.place(i)}: {fields} fields where {count} are expected"
    return None


def _read_bytes(path: Path) -> Array:
    raw = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError, zlib.error) as error:
            raise FormatError(f"{path}: not a readable gzip file ({first_line(error)})") from None
    raw = raw.removeprefix(b"\xef\xbb\xbf")  # a byte order mark, as spreadsheets write it
    if not raw:
        raise FormatError(f"{path}: the file is empty")
    if not raw.endswith(b"\n"):
        raise FormatError(f"{path}: cut short? The last line has no line break; add one if the file is whole")
    return np.frombuffer(raw, np.uint8)


def _edge_lines(data: Array, anywhere: bool) -> tuple[Array, Array, Array]:
    """Starts, stops and numbers of the lines that are neither blank nor comments.

    In white-space lists a comment may stand anywhere; in CSV only at the top, since further down `#` may be data.
    """
    stops = np.flatnonzero(data == _BREAK) + 1
    starts = np.concatenate([[0], stops[:-1]])
    full = np.logical_or.reduceat(~np.isin(data, _BLANKS), starts)
    comment = np.isin(data[starts], _COMMENTS)
    if not anywhere:
        comment = np.logical_and.accumulate(comment | ~full) & comment
    real = full & ~comment
    return starts[real], stops[real], np.flatnonzero(real) + 1


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


def _write_bytes(handle: BinaryIO, suffix: str, content: bytes) -> None:
    if not suffix.endswith(".gz"):
        handle.write(content)
        return
    with gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as packed:  # no name, no date: same bytes
        packed.write(content)
