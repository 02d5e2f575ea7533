"""Edge lists in Parquet, a file or a folder, read by batches of rows."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files import NumNodes
from lsprune.files.batches.base import EdgeFiles, Kept, Piece, Shard, split_nodes
from lsprune.files.content import choose, need, refuse_twice, stack
from lsprune.files.memory_budget import show_size
from lsprune.files.parquet import first_line, is_list, numbers
from lsprune.files.parquet_memory import rows_within, touch_groups
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_BUFFER = 1 << 20  # bytes of a column read from disk at a time
_GROUP = 1 << 20  # rows of an output row group at most, as pyarrow's own default
_TEXT_BYTES = 1 << 26  # of texts in a batch at most: a dictionary may repeat a long one in every row
_SAMPLE = 1024  # rows looked at to estimate the memory of one


@dataclass(frozen=True)
class Part:
    """One file, as its footer describes it."""

    path: Path
    name: str
    first: int  # position of its first row in the whole input
    groups: tuple[int, ...]  # the first row of each row group in this file, and its number of rows
    types: dict[str, Any]  # Arrow types by column
    widest: int = 0  # bytes of a row, as encoded, in the row group whose rows have most

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.groups[-1]

    def place(self, row: int) -> str:
        """How a row of this file is named in an error."""
        return f"row {row} (row group {self.group(row)})"

    def group(self, row: int) -> int:
        """The row group of a row."""
        return max(0, min(bisect.bisect_right(self.groups, row), len(self.groups) - 1) - 1)


class ParquetFiles(EdgeFiles):
    """The rows of one or more Parquet files; all footers are read, and compared, when it is made."""

    def __init__(
        self,
        paths: Sequence[Path],
        names: Sequence[str],
        source: str | None,
        target: str | None,
        edge_attr: tuple[str, ...],
        num_nodes: NumNodes,
        bipartite: bool = False,
    ) -> None:
        self.inputs = tuple(paths)
        self.nodes, self.limits = split_nodes(num_nodes, bipartite)
        self.parts: list[Part] = []
        for path, name in zip(paths, names, strict=True):
            self.parts.append(footer(path, name, self._rows()))
        first = self.parts[0]
        self.names = self.labels = choose(list(first.types), source, target, first.path)
        self._edge_attr = edge_attr
        for part in self.parts:
            compare(part, first, (*self.names, *edge_attr))
        self.dtype = _id_dtype([first.types[name] for name in self.names])
        template = stack([no_numbers(self.parts, name) for name in edge_attr])
        self.attr_shape = None if template is None else template.shape[1:]
        self.attr_dtype = None if template is None else template.dtype
        self.row_bytes = self._estimate()

    @property
    def edges(self) -> int:
        """Number of rows in all footers."""
        return self._rows()

    @property
    def shards(self) -> tuple[Shard, ...]:
        """One for each file, of the same name."""
        return tuple(Shard(part.name, part.first, part.first + part.rows) for part in self.parts)

    def has_edges(self, path: Path) -> bool:
        """Whether a file has any rows."""
        return any(part.rows > 0 for part in self.parts if part.path == path)

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """The rows of all files; Arrow decodes the columns on its own threads."""
        wanted = list(dict.fromkeys((*self.names, *(self._edge_attr if attributes else ()))))
        for part in self.parts:
            for at, batch in read(part, rows, wanted):
                place = _offset(part.place, at)
                attr = None
                if attributes:
                    columns = [numbers(column_of(batch, n), n, part.path, place) for n in self._edge_attr]
                    attr = stack(columns)
                    if attr is not None and self.attr_shape is not None:
                        check_width(attr, self.attr_shape, ", ".join(self._edge_attr), part.path, place(0))
                source, target = (batch.column(name) for name in self.names)
                yield Piece(part.path, part.first + at, source, target, attr, place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the kept rows with all columns, types and metadata, compressed as they were, with page checksums."""
        part = next(part for part in self.parts if part.name == shard.name)
        step = max(1, rows // 3)  # a batch, its kept part, and the row group that fills up
        read_rows = 0
        with writing(handle, *_described(part.path)) as writer:
            out = Groups(writer, min(step, _GROUP), max(_TEXT_BYTES, 4 * step * self.row_bytes), part.path)
            for at, batch in read(part, step, None):
                mask = kept(part.first + at, part.first + at + batch.num_rows)
                read_rows += batch.num_rows
                out.add(batch, mask)
            return read_rows, out.finish()

    def _rows(self) -> int:
        return self.parts[-1].first + self.parts[-1].rows if self.parts else 0

    def _estimate(self) -> int:
        part = next((part for part in self.parts if part.rows), None)
        if part is None:
            return 16
        sample = next(read(part, _SAMPLE, None))[1]
        first = sum(_without_dictionary(column).nbytes for column in sample.columns)
        # The first rows may be shorter than the others, and what is encoded shorter than what is read: the larger.
        return max(1, -(-int(first) // int(sample.num_rows)), *(part.widest for part in self.parts))


def _without_dictionary(column: Any) -> Any:
    """The column; of a dictionary, which all batches share, the places in it."""
    return getattr(column, "indices", column)


class Groups:
    """Row groups of equal size, whatever the size of the batches they come in, so that equal rows are equal bytes."""

    def __init__(self, writer: Any, group: int, most: int, path: Path) -> None:
        self._writer, self._group, self._waiting, self._count, self._written = writer, group, list[Any](), 0, 0
        self._most, self._bytes, self._path = most, 0, path

    def add(self, batch: pa.RecordBatch, mask: Array) -> None:
        """The rows of a batch with a True in `mask`."""
        import pyarrow as pa

        count = int(np.count_nonzero(mask))
        if count == 0:
            return
        self._waiting.append(batch if count == batch.num_rows else batch.filter(pa.array(mask)))
        self._count += count
        self._bytes += self._waiting[-1].nbytes
        if self._bytes > self._most:
            raise OptionError(
                f"{self._path}: memory must be larger for its long texts: {self._count:,} rows take "
                f"{show_size(self._bytes)}, of {show_size(self._most)} that are set aside for {self._group:,}"
            )
        if self._count >= self._group:
            self._write(last=False)

    def finish(self) -> int:
        """Write what is left; gives the number of rows written."""
        self._write(last=True)
        return self._written

    def _write(self, last: bool) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches(self._waiting, self._writer.schema)
        stop = table.num_rows if last else table.num_rows - table.num_rows % self._group
        for lo in range(0, stop, self._group):
            group = table.slice(lo, min(self._group, stop - lo)).combine_chunks()
            self._writer.write_table(group.unify_dictionaries(), self._group)
            self._written += group.num_rows
        left = table.slice(stop)
        self._waiting, self._count, self._bytes = left.to_batches(), left.num_rows, left.nbytes


@contextmanager
def writing(handle: BinaryIO, schema: pa.Schema, like: Any = None) -> Iterator[Any]:
    """A Parquet writer into `handle` with page checksums, and encodings as the metadata `like` has them.

    After an error nothing more is written.
    """
    from pyarrow import parquet

    options = {} if like is None or like.num_row_groups == 0 else _options(like)
    writer = parquet.ParquetWriter(handle, schema, write_page_checksum=True, **options)
    try:
        yield writer
        writer.close()
    except BaseException:
        writer.is_open = False  # or the garbage collector has it write a footer to a file that is gone
        raise


def _described(path: Path) -> tuple[Any, Any]:
    """Schema, with its metadata, and footer of a file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return file.schema_arrow, file.metadata


def read(part: Part, rows: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
    """Record batches of at most `rows` rows, each with the row it begins with; page checksums are compared."""
    from pyarrow import parquet

    at = 0
    try:
        with parquet.ParquetFile(part.path, **_READ) as file:
            step = min(rows, rows_within(part.path, file, _TEXT_BYTES, columns))
            for batch in file.iter_batches(step, columns=columns):
                if columns is None:
                    batch.validate(full=True)  # text that is no text, lists that end before they begin
                if batch.num_rows:
                    yield at, batch
                at += batch.num_rows
    except _errors() as error:
        raise FormatError(f"{part.path}: {_damage(part, at, rows, columns)}: {_unreadable(error)}") from None
    if at != part.rows:
        raise FormatError(f"{part.path}: had {part.rows} rows and has {at} now; it was changed while it was read")


_READ = {"page_checksum_verification": True, "buffer_size": _BUFFER, "pre_buffer": False}


def _damage(part: Part, at: int, rows: int, columns: list[str] | None) -> str:
    """Which row group cannot be read: a batch may reach over several, so each is tried by itself."""
    from pyarrow import parquet

    last = part.group(at + rows)
    for group in range(part.group(at), last):
        try:
            with parquet.ParquetFile(part.path, **_READ) as file:
                for _ in file.iter_batches(min(rows, _SAMPLE), row_groups=[group], columns=columns):
                    pass
        except _errors():
            return f"row group {group}"
    return f"row group {last}"


def footer(path: Path, name: str, first: int) -> Part:
    """A file as its footer describes it; raises where that cannot be true."""
    from pyarrow import parquet

    with path.open("rb") as handle:  # a missing or unreadable file is the system's error, not the format's
        size = handle.seek(0, 2)
    try:
        with parquet.ParquetFile(path) as file:
            schema, meta = file.schema_arrow, file.metadata
            touch_groups(path)
            groups, widest = [0], 0
            for g in range(meta.num_row_groups):
                group = meta.row_group(g)
                _check_extent(group, size, f"{path}: row group {g}")
                groups.append(groups[-1] + group.num_rows)
                widest = max(widest, -(-group.total_byte_size // max(group.num_rows, 1)))
    except _errors() as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path}: {_unreadable(error)}") from None
    if groups[-1] != meta.num_rows:
        raise FormatError(f"{path}: claims {meta.num_rows} rows and its row groups have {groups[-1]}; damaged")
    refuse_twice(schema.names, path)
    return Part(path, name, first, tuple(groups), dict(zip(schema.names, schema.types, strict=True)), widest)


def _check_extent(group: Any, size: int, where: str) -> None:
    for c in range(group.num_columns):
        column = group.column(c)
        start = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)), default=0)
        if start + column.total_compressed_size > size - 8:
            raise FormatError(f"{where} lies beyond the end of the file; cut short or damaged")


def compare(part: Part, first: Part, used: tuple[str, ...]) -> None:
    """Nothing; raises where a file lacks one of these columns, or has it in another type than the first file."""
    need(list(part.types), used, part.path)
    for name in used:
        if part.types[name] != first.types[name]:
            raise FormatError(
                f"{part.path}: column {name!r} is {part.types[name]}, but {first.types[name]} in {first.path}; "
                "all files must have the same type"
            )


def _id_dtype(types: list[Any]) -> np.dtype[Any]:
    import pyarrow as pa

    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    # int32 holds all of these; uint32 and the 64-bit types need more
    small = (pa.int32(), pa.int16(), pa.int8(), pa.uint16(), pa.uint8())
    return np.dtype(np.int32 if all(kind in small for kind in plain) else np.int64)


def _options(meta: Any) -> dict[str, Any]:
    """How the output is encoded: as the input's first row group is."""

    group = meta.row_group(0)
    columns = [group.column(c) for c in range(group.num_columns)]
    names = [meta.schema.column(c).path for c in range(group.num_columns)]  # a chunk may have another: damaged
    return {
        "compression": {name: _codec(column.compression) for name, column in zip(names, columns, strict=True)},
        "use_dictionary": [name for name, column in zip(names, columns, strict=True) if _repeats(column)],
        "use_deprecated_int96_timestamps": any(column.physical_type == "INT96" for column in columns),
    }


def _repeats(column: Any) -> bool:
    """Whether a dictionary made a column smaller; where it did not, its writer gave it up, and so need not we try."""
    width = {"INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}.get(column.physical_type)
    if width is None:
        return bool(column.has_dictionary_page)
    return bool(column.has_dictionary_page and column.total_uncompressed_size < 0.8 * width * column.num_values)


def _codec(name: str) -> str:
    import pyarrow as pa

    if name == "UNCOMPRESSED":
        return "NONE"
    return name if name in ("GZIP", "ZSTD", "BROTLI", "LZ4") and pa.Codec.is_available(name.lower()) else "SNAPPY"


def no_rows(kind: Any) -> Any:
    """A column of an Arrow type without rows: what numpy makes of it tells type and shape."""
    import pyarrow as pa

    return pa.chunked_array([pa.array([], kind)], kind)


def no_numbers(parts: Sequence[Part], name: str) -> Array:
    """No rows of a column of numbers, whose type and shape are those of its rows; lists are as long as the first."""
    kind, part = parts[0].types[name], next((part for part in parts if part.rows), None)
    if part is None or not is_list(kind):
        return numbers(no_rows(kind), name, parts[0].path)
    return numbers(column_of(next(read(part, 1, [name]))[1], name), name, part.path, part.place)[:0]


def check_width(rows: Array, width: tuple[int, ...], name: str, path: Path, place: str) -> None:
    """FormatError where the rows of one part of a table are wider than those of the first."""
    if rows.shape[1:] != width:
        got = f"{width[0] if width else 1} and {rows.shape[1] if rows.ndim > 1 else 1}"
        raise FormatError(f"{path}: column {name!r}, {place}: lists must have one length, got {got}")


def column_of(batch: Any, name: str) -> Any:
    """A column of a record batch, chunked as those of tables are."""
    import pyarrow as pa

    return pa.chunked_array([batch.column(name)])


def _offset(place: Callable[[int], str], at: int) -> Callable[[int], str]:
    return lambda position: place(at + position)


def _unreadable(error: BaseException) -> str:
    return f"not a readable Parquet file ({first_line(error)})"


def _errors() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, LookupError)
