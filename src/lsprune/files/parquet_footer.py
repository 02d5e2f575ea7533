"""What the footer of a Parquet file declares, checked before anything is decoded: row groups, types and sizes.

A file of a few kilobytes may hold billions of rows: a value that is spelled out once in a dictionary takes a few bits
for a whole run of rows. Of numbers the footer tells all, how many and how wide; of text only the encoded size, so that
its values are counted, by their places in the dictionary, where that matters.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError
from lsprune.files.arrow_columns import first_line
from lsprune.files.columns import need, refuse_repeated
from lsprune.files.footer_checksum import check_footer
from lsprune.files.parquet_pages import check_pages

_COUNTED_ROWS = 1 << 16  # rows whose texts are counted at a time
_OFFSET_BYTES = 4  # that say where a text begins
_MAGIC_BYTES = 8  # the length of the footer and the mark at the end of a file
_NO_DICTIONARY = frozenset({"PLAIN", "RLE", "BIT_PACKED", "DELTA_LENGTH_BYTE_ARRAY"})  # every value spelled out
_DICTIONARY = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}  # bytes


@dataclass(frozen=True)
class Footer:
    """One file, as its footer describes it."""

    path: Path
    name: str  # relative to the folder of the edge list
    first: int  # position of its first row in the whole edge list
    groups: tuple[int, ...]  # the first row of each row group in this file, and its number of rows
    types: dict[str, Any]  # Arrow types by column
    widest: int = 0  # bytes of a row, as encoded, in the row group whose rows have most

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.groups[-1]

    @property
    def last(self) -> int:
        """Position after its last row in the whole edge list."""
        return self.first + self.rows

    def place(self, row: int) -> str:
        """Return how an error names a row of this file."""
        return f"row {row} (row group {self.group(row)})"

    def group(self, row: int) -> int:
        """Return the row group of a row."""
        return max(0, min(bisect.bisect_right(self.groups, row), len(self.groups) - 1) - 1)


def read_footer(path: Path, name: str = "", first: int = 0) -> Footer:
    """Return what the footer of a file declares; FormatError if that cannot be true."""
    from pyarrow import parquet

    with path.open("rb") as handle:  # a missing or unreadable file is the system's error, not the format's
        check_footer(handle, path)
        size = handle.seek(0, 2)
    try:
        with parquet.ParquetFile(path) as file, path.open("rb") as handle:
            schema, meta = file.schema_arrow, file.metadata
            _touch_groups(path)
            groups, widest = [0], 0
            for g in range(meta.num_row_groups):
                group = meta.row_group(g)
                _check_extent(group, size, f"{path}: row group {g}")
                _check_names(group, meta.schema, f"{path}: row group {g}")
                check_pages(handle, group, size - _MAGIC_BYTES, f"{path}: row group {g}")
                groups.append(groups[-1] + group.num_rows)
                widest = max(widest, -(-group.total_byte_size // max(group.num_rows, 1)))
    except FormatError:
        raise
    except parquet_errors() as error:
        raise FormatError(f"{path}: {unreadable(error)}") from None
    if groups[-1] != meta.num_rows:
        raise FormatError(f"{path}: claims {meta.num_rows} rows and its row groups have {groups[-1]}; damaged")
    refuse_repeated(schema.names, path)
    return Footer(path, name, first, tuple(groups), dict(zip(schema.names, schema.types, strict=True)), widest)


def read_footers(paths: Sequence[Path], names: Sequence[str] | None = None) -> list[Footer]:
    """Return the footers of the files of one edge list or table, in their order."""
    footers: list[Footer] = []
    for number, path in enumerate(paths):
        footers.append(read_footer(path, names[number] if names else "", footers[-1].last if footers else 0))
    return footers


def declared_rows(path: Path) -> int | None:
    """Return the number of rows that a footer declares; None if it cannot be read."""
    from pyarrow import parquet

    try:
        return int(parquet.read_metadata(path).num_rows)
    except parquet_errors():
        return None


def common_types(footers: Sequence[Footer]) -> dict[str, Any]:
    """Return the Arrow types of the columns of the first file, by name.

    Writers such as pandas give the columns of a file without rows the type null or double, whatever the others hold. So
    the first file with rows tells the type; if there is none, the first whose type is not null.
    """
    return {name: _typed(footers, name).types[name] for name in footers[0].types}


def _typed(footers: Sequence[Footer], name: str) -> Footer:
    """Return the file that says what a column holds; the first of all if there is none."""
    import pyarrow as pa

    having = [footer for footer in footers if name in footer.types]
    with_rows = (footer for footer in having if footer.rows)
    typed = (footer for footer in having if not pa.types.is_null(footer.types[name]))
    return next(with_rows, None) or next(typed, footers[0])


def check_same_types(footers: Sequence[Footer], columns: Sequence[str]) -> None:
    """Raise FormatError if a file lacks one of these columns, or has it in another type than the first file.

    Types of a file without rows do not count.
    """
    for footer in footers:
        need(list(footer.types), columns, footer.path)
    for name in columns:
        first = _typed(footers, name)
        for footer in footers:
            if footer.rows and footer.types[name] != first.types[name]:
                raise FormatError(
                    f"{footer.path}: column {name!r} is {footer.types[name]}, but {first.types[name]} in {first.path}; "
                    "all files must have the same type"
                )


def unreadable(error: BaseException) -> str:
    """Return what is said of a file that pyarrow cannot read."""
    return f"not a readable Parquet file ({first_line(error)})"


def parquet_errors() -> tuple[type[Exception], ...]:
    """Return the errors that pyarrow raises for damaged files."""
    import pyarrow as pa

    return (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, LookupError)


def _touch_groups(path: Path) -> None:
    """Raise pyarrow's error for a row group that cannot be described.

    The accessors of pyarrow's metadata end the whole process for some kinds of damage; its reader raises.
    """
    from pyarrow import parquet

    # Mapped: only the first pages are read, and no memory is taken for the sizes that they claim.
    with parquet.ParquetFile(path, pre_buffer=False, memory_map=True) as file:
        for g in range(file.metadata.num_row_groups):
            next(file.iter_batches(1, row_groups=[g], use_threads=False), None)


def _check_extent(group: Any, size: int, where: str) -> None:
    for c in range(group.num_columns):
        column = group.column(c)
        start = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)), default=0)
        if start + column.total_compressed_size > size - _MAGIC_BYTES:
            raise FormatError(f"{where} lies beyond the end of the file; cut short or damaged")


def _check_names(group: Any, schema: Any, where: str) -> None:
    """Raise FormatError if a column has one name in the schema and another in its row group: one of them is damaged."""
    for c in range(group.num_columns):
        if (name := group.column(c).path_in_schema) != schema.column(c).path:
            raise FormatError(f"{where} has a column {name!r} that is {schema.column(c).path!r} in the schema; damaged")


# What decoding takes


@dataclass(frozen=True)
class GroupBytes:
    """What a row group takes in memory: `fixed` in all, and up to `repeated` more for each row."""

    rows: int
    fixed: int
    repeated: int

    @property
    def most(self) -> int:
        """Bytes of the whole row group at most."""
        return self.fixed + self.rows * self.repeated

    def rows_within(self, size: int) -> int:
        """Return the number of rows that take at most `size` bytes, and at least one."""
        return max(1, size // max(1, self.repeated + self.fixed // max(1, self.rows)))


def memory_of_groups(path: Path, file: Any, available: int) -> list[GroupBytes]:
    """Return what each row group of an open ParquetFile takes; texts are counted only where that decides what fits."""
    numbers = range(file.metadata.num_row_groups)
    groups = [_group_bytes(file, g) for g in numbers]
    if sum(group.fixed for group in groups) <= available < sum(group.most for group in groups):
        groups = [_group_bytes(file, g, lambda c, g=g: _decoded_bytes(path, file, g, c)) for g in numbers]  # type: ignore[misc]
    return groups


def _group_bytes(file: Any, number: int, texts: Callable[[int], int | None] | None = None) -> GroupBytes:
    """Return what a row group takes, as the footer tells it.

    Args:
        texts: gives the bytes of all values of a text column with a dictionary; None where they are not known.
    """
    group, schema = file.metadata.row_group(number), file.schema_arrow
    fixed = repeated = 0
    for c in range(group.num_columns):
        column = group.column(c)
        values, size = max(column.num_values, group.num_rows), max(column.total_uncompressed_size, 0)
        width = _width(schema, file.schema.column(c))
        if width or set(column.encodings) <= _NO_DICTIONARY:
            fixed += values * (width or _OFFSET_BYTES) + (0 if width else size)
            continue
        known = None if texts is None else texts(c)
        fixed += values * _OFFSET_BYTES + (known or 0)
        repeated += size if known is None else 0
    return GroupBytes(group.num_rows, fixed, repeated)


def _decoded_bytes(path: Path, file: Any, number: int, column: int) -> int | None:
    """Return the bytes of all values of a text column, counted without spelling them out; None where that fails."""
    import pyarrow.compute as pc

    name, total = file.schema.column(column).path, 0
    if not _is_looked_up(file, number, column):
        return None
    with _by_dictionary(path, [name]) as again:
        for batch in again.iter_batches(_COUNTED_ROWS, row_groups=[number], columns=[name]):
            lengths = pc.binary_length(batch.column(0).dictionary)
            total += pc.sum(pc.cast(pc.take(lengths, batch.column(0).indices), "int64")).as_py() or 0
    return total


def rows_within(path: Path, file: Any, size: int, columns: Sequence[str] | None) -> int:
    """Return the number of rows whose texts take at most `size` bytes, wherever they are; at least one."""
    texts: dict[str, list[tuple[int, int]]] = {}
    for g in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(g)
        for c in range(group.num_columns):
            name, schema = file.schema.column(c).path, file.schema_arrow
            if columns is None or name.partition(".")[0] in columns:
                shared = not set(group.column(c).encodings) <= _NO_DICTIONARY
                if shared and not _width(schema, file.schema.column(c)):
                    texts.setdefault(name, []).append((g, c))
    if not texts:
        return max(1, size)
    with _by_dictionary(path, list(texts)) as again:
        longest = sum(max(_longest(file, again, *place) for place in places) for places in texts.values())
    return max(1, size // max(1, longest))


def _longest(file: Any, by_dictionary: Any, number: int, column: int) -> int:
    """Return the bytes of the longest value that the rows of a text column can share in a row group."""
    import pyarrow.compute as pc

    chunk = file.metadata.row_group(number).column(column)
    if not _is_looked_up(file, number, column):
        return int(chunk.total_uncompressed_size)
    batch = next(by_dictionary.iter_batches(1, row_groups=[number], columns=[file.schema.column(column).path]), None)
    return 0 if batch is None else int(pc.max(pc.binary_length(batch.column(0).dictionary)).as_py() or 0)


def _is_looked_up(file: Any, number: int, column: int) -> bool:
    """Return whether Arrow gives the values of a text column as places in a dictionary."""
    chunk = file.metadata.row_group(number).column(column)
    flat = file.schema.column(column).path in file.schema_arrow.names
    return flat and set(chunk.encodings) <= _NO_DICTIONARY | _DICTIONARY


def _by_dictionary(path: Path, names: list[str]) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, read_dictionary=names, page_checksum_verification=True, pre_buffer=False)


def _width(schema: Any, leaf: Any) -> int:
    """Return the bytes of a value of a column; 0 for text, whose values differ."""
    import pyarrow as pa

    name = leaf.path
    kind = schema.field(name).type if name in schema.names else None  # a column of lists has parts of other names
    if kind is not None and (pa.types.is_primitive(kind) or pa.types.is_dictionary(kind)):
        return max(1, int(kind.bit_width) // 8)
    if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(1, int(leaf.length))
    return _WIDTHS.get(leaf.physical_type, 0)
