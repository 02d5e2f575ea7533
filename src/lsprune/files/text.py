"""Edge lists as text: `.csv`, `.tsv`, and the white-space lists of SNAP and others, plain, gzipped or as zstd.

Files are read by blocks of whole lines, in memory as in streaming. Kept lines are written back byte for byte when the
format stays the same.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line, numbers, numbers_or_dates
from lsprune.files.columns import need, stack
from lsprune.files.compression import packed
from lsprune.files.edge_files import Content, EdgeFiles, Kept, LoadedEdges, Piece, Shard, check_rows, split_nodes
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.edge_tables import write_table
from lsprune.files.ids import MAP_IDS
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.suffixes import uncompressed
from lsprune.files.text_lines import (
    SEPARATORS,
    Layout,
    Lines,
    first_edge,
    layout_of,
    parse_lines,
    read_lines,
    refuse_wrong_ids,
    wrong_line,
)
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_STREAM_BYTES = 1 << 22  # of text in memory at a time at most
_LOAD_BYTES = 1 << 24  # of text parsed at a time where all of it stays in memory
_FIRST_BYTES = 1 << 16  # looked at to find the columns and the length of a line
_NO_EDGES = b"# no edges\n"


class TextFiles(EdgeFiles):
    """The lines of one or more text files. How many there are is known only after they were read once."""

    is_text = True

    def __init__(self, paths: Sequence[Path], names: Sequence[str], options: EdgeOptions) -> None:
        self.inputs, self._shard_names = tuple(paths), tuple(names)
        self._edge_attr = tuple(options.edge_attr)
        self.nodes, self.limits = split_nodes(options.num_nodes, options.two_kinds)
        firsts = [first_edge(path, _FIRST_BYTES) for path in paths]
        self._line_bytes = max(length for _, length in firsts)  # about
        # a file without a line, as engines that write one file per task leave them, has no columns to compare
        lead = next((file for file, (line, _) in enumerate(firsts) if line), 0)
        first = layout_of(firsts[lead][0], paths[lead], options.source, options.target)
        self._layouts = [
            layout_of(line, path, *first.ends) if line else replace(first, path=path, header=b"")
            for path, (line, _) in zip(paths, firsts, strict=True)
        ]
        self.names = self.labels = first.ends
        self.column_names = first.columns
        self._named = tuple(name for name in options.columns if name in first.columns)
        for layout in self._layouts:
            need(layout.columns, (*self._edge_attr, *self._named), layout.path)
        self.dtype = np.dtype(np.int64)
        self._counts: list[int | None] = [None] * len(paths)
        self._types: dict[str, Any] = {}
        self._named_types: dict[str, Any] = {}

    def prepare(self) -> None:
        """Read all files where they have attributes: whether a column is whole numbers shows only at its end."""
        self._types = self._numeric()
        dtypes = [kind.to_pandas_dtype() for kind in self._types.values()]
        if dtypes:
            self.attr_shape, self.attr_dtype = () if len(dtypes) == 1 else (len(dtypes),), np.result_type(*dtypes)
        self._named_types = self._column_types()
        self.columns = {name: _column_dtype(kind) for name, kind in self._named_types.items()}
        # the text itself, the marks on its bytes, the place of its lines, and the values
        self.row_bytes = 4 * self._line_bytes + 24 + 8 * (2 + len(dtypes) + len(self.columns))

    @property
    def edges(self) -> int | None:
        """Number of edges once all files were read to their end."""
        counts = [count for count in self._counts if count is not None]
        return sum(counts) if len(counts) == len(self._counts) else None

    @property
    def shards(self) -> tuple[Shard, ...]:
        """One for each file, of the same name; files that nobody has read yet are read to count their lines."""
        for file, count in enumerate(self._counts):
            if count is None:
                for _ in self._lines(file, _STREAM_BYTES):
                    pass
        first, shards = 0, []
        for name, count in zip(self._shard_names, self._counts, strict=True):
            shards.append(Shard(name, first, first + (count or 0)))
            first += count or 0
        return tuple(shards)

    def has_edges(self, path: Path) -> bool:
        """Return whether a file has any line that is an edge."""
        return any(len(lines) for lines in self._lines(self.inputs.index(path), _FIRST_BYTES))

    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield the edges of all files, parsed by Arrow."""
        import pyarrow as pa

        ends = dict.fromkeys(self.names, pa.string() if spelled else pa.int64())
        first = 0
        for file in range(len(self.inputs)):
            for lines in self._lines(file, self._block_bytes(rows)):
                named = {name: self._named_types[name] for name in columns}
                piece, _ = _piece(lines, first, ends, self._types if attributes else {}, named)
                yield replace(piece, source=trimmed(piece.source), target=trimmed(piece.target)) if spelled else piece
                first += len(lines)

    def load_table(self, memory: MemoryBudget) -> tuple[Content, Any]:
        """Read all lines, and return them as a table too, with ids as strings."""
        content = TextContent(self._layouts[0], tuple(self._lines(0, _LOAD_BYTES, memory)), spelled=True)
        return content, content.table()

    def load(self, memory: MemoryBudget) -> LoadedEdges:
        """Read all blocks, and keep their lines to write them back."""
        import pyarrow as pa

        ends, attributes = dict.fromkeys(self.names, pa.int64()), dict.fromkeys(self._edge_attr)
        blocks: list[Lines] = []
        sources, targets = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        columns: dict[str, list[Array]] = {name: [] for name in self._edge_attr}
        for lines in self._lines(0, _LOAD_BYTES, memory):
            piece, values = _piece(lines, 0, ends, attributes)
            sources.append(self.check_end(0, piece))
            targets.append(self.check_end(1, piece))
            for name in columns:
                columns[name].append(values[name])
            blocks.append(lines)
        content = TextContent(self._layouts[0], tuple(blocks))
        attr = stack([_joined(parts, name, self.inputs[0]) for name, parts in columns.items()])
        source, target = np.concatenate(sources), np.concatenate(targets)
        return self.loaded(content, source, target, edge_attr=attr, place=content.place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the kept lines as they are, under the header of their file."""
        check_rows(rows)
        file = self._shard_names.index(shard.name)
        path, layout = self.inputs[file], self._layouts[file]
        at, written = shard.first, 0

        def bodies() -> Iterator[bytes]:
            nonlocal at, written
            for lines in self._lines(file, self._block_bytes(rows)):
                mask = kept(at, at + len(lines))
                at, written = at + mask.shape[0], written + int(np.count_nonzero(mask))
                yield lines.body(mask)

        write_lines(handle, path.name.lower(), layout.header, bodies())
        if at != shard.last:
            raise FormatError(f"{path}: had {shard.last - shard.first} edges and has {at - shard.first} now")
        return at - shard.first, written

    def _block_bytes(self, rows: int) -> int:
        return min(_STREAM_BYTES, rows * self._line_bytes)

    def _lines(self, file: int, size: int, memory: MemoryBudget | None = None) -> Iterator[Lines]:
        """Yield the edges of one file in blocks; at its end their number is kept."""
        count = 0
        for lines in read_lines(self._layouts[file], size, memory):
            yield lines
            count += len(lines)
        self._counts[file] = count

    def _numeric(self) -> dict[str, Any]:
        """Return the Arrow type of each attribute, as in memory: whole numbers as long as no line has a decimal."""
        import pyarrow as pa

        kinds: dict[str, set[str]] = {name: set() for name in self._edge_attr}
        for file, path in enumerate(self.inputs if self._edge_attr else ()):
            for lines in self._lines(file, _STREAM_BYTES):
                table = _parse(lines, dict.fromkeys(self._edge_attr))
                for name in self._edge_attr:
                    kinds[name].add(numbers(table[name], name, path, lines.place).dtype.name)
        for name, names in kinds.items():
            _refuse_mixed(names, name, self.inputs[0])
        types = {"bool": pa.bool_(), "int64": pa.int64(), "float64": pa.float64()}
        # the smallest name: bool (alone), float64, int64
        return {name: types[min(names, default="int64")] for name, names in kinds.items()}

    def _column_types(self) -> dict[str, Any]:
        """Return the Arrow type of each column that is read by name: the one that all lines can be read as."""
        kinds: dict[str, set[Any]] = {name: set() for name in self._named}
        for file, path in enumerate(self.inputs if self._named else ()):
            for lines in self._lines(file, _STREAM_BYTES):
                for name in self._named:
                    column = _column(lines.body(), lines.layout, name)
                    numbers_or_dates(column, name, path, lines.place)
                    kinds[name].add(column.type)
        return {name: common_type(found, name, self.inputs[0]) for name, found in kinds.items()}


@dataclass(frozen=True, eq=False)
class TextContent:
    """All lines of a text file; with `spelled`, ids are strings."""

    layout: Layout
    blocks: tuple[Lines, ...]
    spelled: bool = False

    def check(self, nodes: tuple[int, ...]) -> None:
        """Do nothing: every column belongs to the edges."""

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        return list(self.layout.columns)

    def column(self, name: str) -> Any:
        """Return the column of this name, numbers or dates; None if there is none."""
        if name not in self.layout.columns:
            return None
        return _column(b"".join(lines.body() for lines in self.blocks), self.layout, name)

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept lines as they are, or as rows of a table where the format changes."""
        if uncompressed(suffix) != self.layout.suffix:
            import pyarrow as pa

            write_table(handle, suffix, self.table().filter(pa.array(mask)), self.layout.ends)
            return
        borders = self._borders()
        masks = (mask[lo : lo + len(lines)] for lo, lines in zip(borders, self.blocks, strict=False))
        bodies = (lines.body(part) for lines, part in zip(self.blocks, masks, strict=True))
        write_lines(handle, suffix, self.layout.header, bodies)

    def place(self, position: int) -> str:
        """Return how an error names the line of an edge."""
        block = int(np.searchsorted(self._borders(), position, "right")) - 1
        return self.blocks[block].place(position - self._borders()[block])

    def _borders(self) -> list[int]:
        return list(accumulate((len(lines) for lines in self.blocks), initial=0))

    def table(self) -> pa.Table:
        """Return all lines as rows of a table."""
        import pyarrow as pa

        body, types = b"".join(lines.body() for lines in self.blocks), dict.fromkeys(self.layout.columns)
        ends = dict.fromkeys(self.layout.ends, pa.string() if self.spelled else pa.int64())
        try:
            table = parse_lines(body, self.layout, types | ends)
        except pa.ArrowInvalid:  # a type guessed from the first lines does not hold further on
            table = parse_lines(body, self.layout, dict.fromkeys(types, pa.string()) | ends)
        for name in self.layout.ends if self.spelled else ():
            table = table.set_column(table.column_names.index(name), name, trimmed(table[name]))
        return table


def write_lines(handle: BinaryIO, suffix: str, header: bytes, bodies: Iterable[bytes]) -> None:
    """Write lines under their header, compressed as the suffix says; a file without either gets a comment."""
    empty = not header
    with packed(handle, suffix) as sink:
        sink.write(header)
        for body in bodies:
            sink.write(body)
            empty = empty and not body
        if empty:
            sink.write(_NO_EDGES)


def write_text(handle: BinaryIO, suffix: str, table: pa.Table, ends: tuple[str, str]) -> None:
    """Write a table as text; a white-space list gets its column names as a comment, as SNAP does."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator = SEPARATORS.get(uncompressed(suffix), "")
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


def _piece(
    lines: Lines,
    first: int,
    ends: Mapping[str, Any],
    attributes: Mapping[str, Any],
    columns: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Piece, dict[str, Array]]:
    """Return the ends and attributes of some lines, and each attribute by its name; types are as in `Lines.parse`."""
    table, path = _parse(lines, {**columns, **attributes, **ends}), lines.layout.path
    source, target = (table[name] for name in ends)
    values = {name: numbers(table[name], name, path, lines.place) for name in attributes}
    named = {name: numbers_or_dates(table[name], name, path, lines.place) for name in columns}
    return Piece(path, first, source, target, stack(list(values.values())), lines.place, named), values


def _column(body: bytes, layout: Layout, name: str) -> Any:
    """Return a column of numbers or dates of the lines in `body`, in the first type that all of them fit."""
    import pyarrow as pa

    for kind in (None, *wider_types()):  # as Arrow guesses from the first lines; that may not hold further on
        try:
            return parse_lines(body, layout, {name: kind})[name]
        except pa.ArrowInvalid:
            continue
    raise FormatError(f"{layout.path}: column {name!r} must hold numbers or dates in all lines")


def wider_types() -> list[Any]:
    """Return the types that hold decimals, dates with times of day, fractions of seconds, and the same with a zone."""
    import pyarrow as pa

    return [pa.float64(), *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("s", "ns"))]


def common_type(kinds: set[Any], name: str, path: Path) -> Any:
    """Return the type that holds the values of all blocks, each of which has one of these types."""
    import pyarrow as pa

    if len(kinds) < 2:
        return next(iter(kinds), pa.int64())
    holds = {pa.float64(): {pa.int64()}, pa.timestamp("s"): {pa.date32()}}
    holds[pa.timestamp("ns")] = {pa.date32(), pa.timestamp("s")}
    holds[pa.timestamp("ns", "UTC")] = {pa.timestamp("s", "UTC")}
    for wide, narrow in holds.items():
        if kinds <= {wide, *narrow}:
            return wide
    raise FormatError(f"{path}: column {name!r} must hold numbers or dates in all lines")


def _column_dtype(kind: Any) -> np.dtype[Any]:
    import pyarrow as pa

    return numbers_or_dates(pa.chunked_array([], kind), "", Path()).dtype


def _parse(lines: Lines, types: Mapping[str, Any]) -> pa.Table:
    """Return columns of some lines; FormatError names the line at fault."""
    import pyarrow as pa

    try:
        return lines.parse(types)
    except pa.ArrowException as error:
        damage = error
    if pa.int64() in (types.get(name) for name in lines.layout.ends):
        refuse_wrong_ids(lines, MAP_IDS)
    try:
        # The ends are sound, so an attribute turned from whole numbers to decimals further on than Arrow looks.
        return lines.parse({name: kind or pa.float64() for name, kind in types.items()})
    except pa.ArrowException:
        fault = wrong_line(lines) or f"not a readable edge list ({first_line(damage)})"
        raise FormatError(f"{lines.layout.path}: {fault}") from None


def _joined(parts: list[Array], name: str, path: Path) -> Array:
    """Return the values of a column, whole numbers as long as no block has a decimal."""
    _refuse_mixed({part.dtype.name for part in parts}, name, path)
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _refuse_mixed(dtypes: set[str], name: str, path: Path) -> None:
    if "bool" in dtypes and len(dtypes) > 1:
        raise FormatError(f"{path}: column {name!r} has both numbers and true or false")


def trimmed(column: Any) -> Any:
    """Return a column of texts without spaces around them; an empty one is a missing value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    short = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(short, ""), pa.scalar(None, pa.string()), short)


def _check_plain(table: pa.Table) -> None:
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not plain or column.null_count or re.search(r"\s", name):
            raise FormatError(f"column {name!r} ({column.type}) has no place in a white-space list; write .csv")
