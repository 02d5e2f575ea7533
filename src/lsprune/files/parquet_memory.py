"""What the rows of a Parquet file take in memory, told by its footer and its dictionaries before they are decoded.

A file of a few kilobytes may hold billions of rows: a value that is spelled out once in a dictionary takes a few bits
for a whole run of rows. Of numbers the footer tells all, how many and how wide; of text only the encoded size, so that
its values are counted, by their places in the dictionary, where that matters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprune.files.memory_budget import MemoryBudget

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 16  # rows read at a time where the footer does not tell the size of a table
_OFFSET = 4  # bytes that say where a text begins
_NO_DICTIONARY = frozenset({"PLAIN", "RLE", "BIT_PACKED", "DELTA_LENGTH_BYTE_ARRAY"})  # every value spelled out
_DICTIONARY = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}


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
        """Rows that take at most `size` bytes, and at least one."""
        return max(1, size // max(1, self.repeated + self.fixed // max(1, self.rows)))


def touch_groups(path: Path) -> None:
    """Raise pyarrow's error for a row group that cannot be described.

    The accessors of pyarrow's metadata end the whole process for some kinds of damage; its reader raises.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=4096) as file:  # no more than the first pages
        for g in range(file.metadata.num_row_groups):
            next(file.iter_batches(1, row_groups=[g], use_threads=False), None)


def read_within(file: Any, path: Path, memory: MemoryBudget) -> pa.Table:
    """The table of an open ParquetFile; OptionError if it does not fit into `memory`."""
    touch_groups(path)
    numbers = range(file.metadata.num_row_groups)
    groups = [group_bytes(file, g) for g in numbers]
    if sum(group.fixed for group in groups) <= memory.left < sum(group.most for group in groups):
        groups = [group_bytes(file, g, lambda c, g=g: decoded_bytes(path, file, g, c)) for g in numbers]  # type: ignore[misc]
    least = sum(group.fixed for group in groups)
    if least > memory.left:
        memory.take(least, path)
    if sum(group.most for group in groups) > memory.left:
        return _read_counted(file, path, groups, memory)
    table = file.read()
    memory.take(table.nbytes, path)
    return table


def _read_counted(file: Any, path: Path, groups: list[GroupBytes], memory: MemoryBudget) -> pa.Table:
    """The table, read by batches that are small by what is known and counted one by one."""
    import pyarrow as pa

    batches = []
    for g, group in enumerate(groups):
        for batch in file.iter_batches(min(_BATCH, group.rows_within(memory.left // 8)), row_groups=[g]):
            if batch.nbytes > memory.left:
                raise memory.refusal(f"row group {g} needs more than is left", path)
            memory.take(batch.nbytes, path)
            batches.append(batch)
    return pa.Table.from_batches(batches, file.schema_arrow)


def group_bytes(
    file: Any, number: int, texts: Callable[[int], int | None] | None = None, columns: list[str] | None = None
) -> GroupBytes:
    """What some columns of a row group take, as the footer tells it.

    Args:
        texts: gives the bytes of all values of a text column with a dictionary; None where they are not known.
    """
    group, schema = file.metadata.row_group(number), file.schema_arrow
    fixed = repeated = 0
    for c in range(group.num_columns):
        column = group.column(c)
        if columns is not None and file.schema.column(c).path.partition(".")[0] not in columns:
            continue
        values, size = max(column.num_values, group.num_rows), max(column.total_uncompressed_size, 0)
        width = _width(schema, file.schema.column(c))
        if width or set(column.encodings) <= _NO_DICTIONARY:
            fixed += values * (width or _OFFSET) + (0 if width else size)
            continue
        known = None if texts is None else texts(c)
        fixed += values * _OFFSET + (known or 0)
        repeated += size if known is None else 0
    return GroupBytes(group.num_rows, fixed, repeated)


def decoded_bytes(path: Path, file: Any, number: int, column: int) -> int | None:
    """Bytes of all values of a text column in a row group, counted without spelling them out; None where that fails."""
    import pyarrow.compute as pc

    name, total = file.schema.column(column).path, 0
    if not _is_looked_up(file, number, column):
        return None
    with _by_dictionary(path, [name]) as again:
        for batch in again.iter_batches(_BATCH, row_groups=[number], columns=[name]):
            lengths = pc.binary_length(batch.column(0).dictionary)
            total += pc.sum(pc.cast(pc.take(lengths, batch.column(0).indices), "int64")).as_py() or 0
    return total


def rows_within(path: Path, file: Any, size: int, columns: list[str] | None) -> int:
    """Rows whose texts take at most `size` bytes, wherever in the file they are; at least one."""
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
    """Bytes of the longest value that the rows of a text column can share in a row group."""
    import pyarrow.compute as pc

    chunk = file.metadata.row_group(number).column(column)
    if not _is_looked_up(file, number, column):
        return int(chunk.total_uncompressed_size)
    batch = next(by_dictionary.iter_batches(1, row_groups=[number], columns=[file.schema.column(column).path]), None)
    return 0 if batch is None else int(pc.max(pc.binary_length(batch.column(0).dictionary)).as_py() or 0)


def _is_looked_up(file: Any, number: int, column: int) -> bool:
    """Whether Arrow gives the values of a text column as places in a dictionary."""
    chunk = file.metadata.row_group(number).column(column)
    flat = file.schema.column(column).path in file.schema_arrow.names
    return flat and set(chunk.encodings) <= _NO_DICTIONARY | _DICTIONARY


def _by_dictionary(path: Path, names: list[str]) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, read_dictionary=names, pre_buffer=False)


def _width(schema: Any, leaf: Any) -> int:
    """Bytes of a value of a column; 0 for text, whose values differ."""
    import pyarrow as pa

    name = leaf.path
    kind = schema.field(name).type if name in schema.names else None  # a column of lists has parts of other names
    if kind is not None and (pa.types.is_primitive(kind) or pa.types.is_dictionary(kind)):
        return max(1, int(kind.bit_width) // 8)
    if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(1, int(leaf.length))
    return _WIDTHS.get(leaf.physical_type, 0)
