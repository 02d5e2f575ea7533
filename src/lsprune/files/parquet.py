"""Edge lists in Parquet, a file or a folder: read by batches of rows or whole, and kept rows written back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files.arrow_columns import check_width, column_of, is_list, numbers, numbers_or_dates
from lsprune.files.columns import Place, choose_ends, rows_from, stack
from lsprune.files.edge_files import Content, EdgeFiles, Kept, LoadedEdges, Piece, Shard, split_nodes
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.edge_tables import TableContent
from lsprune.files.footer_checksum import FooterSink
from lsprune.files.memory_budget import MemoryBudget, show_size
from lsprune.files.parquet_footer import (
    Footer,
    check_same_types,
    common_types,
    memory_of_groups,
    parquet_errors,
    read_footer,
    read_footers,
    rows_within,
    unreadable,
)
from lsprune.graph import Array

if TYPE_CHECKING:
    import pyarrow as pa

_BUFFER_BYTES = 1 << 20  # of a column read from disk at a time
_GROUP_ROWS = 1 << 20  # of an output row group at most, as pyarrow's own default
_TEXT_BYTES = 1 << 26  # of texts in a batch at most: a dictionary may repeat a long one in every row
_SAMPLE_ROWS = 1024  # looked at to estimate the memory of a row
_COUNTED_ROWS = 1 << 16  # read at a time where the footer does not tell the size of a table
_BOUNDED = {"page_checksum_verification": True, "buffer_size": _BUFFER_BYTES, "pre_buffer": False}


class ParquetFiles(EdgeFiles):
    """The rows of one or more Parquet files; all footers are read, and compared, when it is made."""

    def __init__(self, paths: Sequence[Path], names: Sequence[str], options: EdgeOptions) -> None:
        self.inputs, self._edge_attr = tuple(paths), tuple(options.edge_attr)
        self.nodes, self.limits = split_nodes(options.num_nodes, options.two_kinds)
        self.footers = read_footers(paths, names)
        path, self._types = self.footers[0].path, common_types(self.footers)
        self.names = self.labels = choose_ends(list(self._types), options.source, options.target, path)
        self.column_names = tuple(self._types)
        self._named = tuple(name for name in options.columns if name in self._types)
        check_same_types(self.footers, (*self.names, *self._edge_attr, *self._named))
        self.dtype = _id_dtype([self._types[name] for name in self.names])

    def prepare(self) -> None:
        """Read the first rows, for the shape of lists and the memory of a row."""
        template = stack([no_numbers(self.footers, name) for name in self._edge_attr])
        if template is not None:
            self.attr_shape, self.attr_dtype = template.shape[1:], template.dtype
        self.columns = {name: self._column_type(name) for name in self._named}
        self.row_bytes = self._estimate()

    @property
    def edges(self) -> int:
        """Number of rows in all footers."""
        return self.footers[-1].last

    @property
    def shards(self) -> tuple[Shard, ...]:
        """One for each file, of the same name."""
        return tuple(Shard(footer.name, footer.first, footer.last) for footer in self.footers)

    def has_edges(self, path: Path) -> bool:
        """Return whether a file has any rows."""
        return any(footer.rows > 0 for footer in self.footers if footer.path == path)

    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield the rows of all files; Arrow decodes the columns on its own threads."""
        wanted = list(dict.fromkeys((*self.names, *(self._edge_attr if attributes else ()), *columns)))
        for footer in self.footers:
            for at, batch in read_batches(footer, rows, wanted):
                place = rows_from(at, footer.place)
                attr = self._attributes(batch, footer.path, place) if attributes else None
                if attr is not None and self.attr_shape is not None:
                    check_width(attr, self.attr_shape, ", ".join(self._edge_attr), footer.path, place(0))
                source, target = (batch.column(name) for name in self.names)
                named = {name: numbers_or_dates(column_of(batch, name), name, footer.path, place) for name in columns}
                yield Piece(footer.path, footer.first + at, source, target, attr, place, named)

    def load_table(self, memory: MemoryBudget) -> tuple[Content, Any]:
        """Read the whole table, with ids of any kind."""
        table = read_table(self.footers[0], memory)
        return TableContent(table, self.names), table

    def load(self, memory: MemoryBudget) -> LoadedEdges:
        """Read the whole table: faster than by batches where it fits."""
        footer = self.footers[0]
        table = read_table(footer, memory)
        source, target = (table[name] for name in self.names)
        piece = Piece(footer.path, 0, source, target, self._attributes(table, footer.path, footer.place), footer.place)
        ends = (self.check_end(0, piece), self.check_end(1, piece))
        return self.loaded(TableContent(table, self.names), *ends, edge_attr=piece.edge_attr, place=footer.place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the kept rows with all columns, types and metadata, compressed as they were, with page checksums."""
        footer = next(footer for footer in self.footers if footer.name == shard.name)
        step = max(1, rows // 3)  # a batch, its kept part, and the row group that fills up
        read_rows = 0
        with writing(handle, *_described(footer.path)) as writer:
            out = Groups(writer, min(step, _GROUP_ROWS), max(_TEXT_BYTES, 4 * step * self.row_bytes), footer.path)
            for at, batch in read_batches(footer, step, None):
                mask = kept(footer.first + at, footer.first + at + batch.num_rows)
                read_rows += batch.num_rows
                out.add(batch, mask)
            return read_rows, out.finish()

    def _attributes(self, table: Any, path: Path, place: Place) -> Array | None:
        """Return the attributes in a table or batch; None without names of columns."""
        return stack([numbers(column_of(table, name), name, path, place) for name in self._edge_attr])

    def _column_type(self, name: str) -> np.dtype[Any]:
        """Return the type of a column of numbers or dates; raise FormatError for any other."""
        import pyarrow as pa

        first = self.footers[0]
        empty = pa.chunked_array([], self._types[name])
        return numbers_or_dates(empty, name, first.path, first.place).dtype

    def _estimate(self) -> int:
        footer = next((footer for footer in self.footers if footer.rows), None)
        if footer is None:
            return 16
        sample = next(read_batches(footer, _SAMPLE_ROWS, None))[1]
        first = sum(_without_dictionary(column).nbytes for column in sample.columns)
        # The first rows may be shorter than the others, and what is encoded shorter than what is read: the larger.
        return max(1, -(-int(first) // int(sample.num_rows)), *(footer.widest for footer in self.footers))


def read_batches(footer: Footer, rows: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
    """Yield record batches of at most `rows` rows, each with its first row; page checksums are compared."""
    from pyarrow import parquet

    at = 0
    try:
        with parquet.ParquetFile(footer.path, **_BOUNDED) as file:
            step = min(rows, rows_within(footer.path, file, _TEXT_BYTES, columns))
            for batch in file.iter_batches(step, columns=columns):
                if columns is None:
                    batch.validate(full=True)  # text that is no text, lists that end before they begin
                if batch.num_rows:
                    yield at, batch
                at += batch.num_rows
    except parquet_errors() as error:
        raise _damaged(footer, at, rows, columns, error) from None
    if at != footer.rows:
        raise FormatError(f"{footer.path}: had {footer.rows} rows and has {at} now; it was changed while it was read")


def read_table(footer: Footer, memory: MemoryBudget) -> pa.Table:
    """Return the whole table of a file, page checksums compared; OptionError if it does not fit into `memory`."""
    from pyarrow import parquet

    path = footer.path
    try:
        # Not parquet.read_table: that adds columns when a folder's name looks like a partition ("year=2020").
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            groups, schema = memory_of_groups(path, file, memory.left), file.schema_arrow
            least = sum(group.fixed for group in groups)
            if least > memory.left:
                memory.take(least, path)
            if sum(group.most for group in groups) <= memory.left:
                table = file.read()
                table.validate(full=True)
                memory.take(table.nbytes, path)
                return table
    except OptionError:
        raise
    except parquet_errors() as error:
        raise _damaged(footer, 0, footer.rows, None, error) from None
    rows = min([_COUNTED_ROWS, *(group.rows_within(memory.left // 8) for group in groups)])
    return _counted_table(footer, schema, rows, memory)


def _counted_table(footer: Footer, schema: Any, rows: int, memory: MemoryBudget) -> pa.Table:
    """Return the table, read by batches that are small by what is known and counted one by one."""
    import pyarrow as pa

    batches = []
    for at, batch in read_batches(footer, rows, None):
        if batch.nbytes > memory.left:
            raise memory.refusal(f"row group {footer.group(at)} needs more than is left", footer.path)
        memory.take(batch.nbytes, footer.path)
        batches.append(batch)
    return pa.Table.from_batches(batches, schema)


def read_parquet(path: Path, memory: MemoryBudget | None = None) -> pa.Table:
    """Return the whole table of a Parquet file; OptionError if it exceeds `memory` (default: what is available)."""
    return read_table(read_footer(path), memory or MemoryBudget.of())


def _damaged(footer: Footer, at: int, rows: int, columns: list[str] | None, error: Exception) -> FormatError:
    """Return the error that names the row group at fault: a batch may reach over several, so each is tried."""
    from pyarrow import parquet

    last = footer.group(at + rows)
    for group in range(footer.group(at), last):
        try:
            with parquet.ParquetFile(footer.path, **_BOUNDED) as file:
                step = min(rows, _SAMPLE_ROWS, rows_within(footer.path, file, _TEXT_BYTES, columns))
                for batch in file.iter_batches(step, row_groups=[group], columns=columns):
                    batch.validate(full=True)
        except parquet_errors():
            last = group
            break
    return FormatError(f"{footer.path}: row group {last}: {unreadable(error)}")


def no_numbers(footers: Sequence[Footer], name: str) -> Array:
    """Return no rows of a column of numbers, whose type and shape are those of its rows; lists as long as the first."""
    import pyarrow as pa

    kind, footer = common_types(footers)[name], next((footer for footer in footers if footer.rows), None)
    if footer is None or not (is_list(kind) or pa.types.is_null(kind)):
        return numbers(pa.chunked_array([pa.array([], kind)], kind), name, footers[0].path)
    first = column_of(next(read_batches(footer, 1, [name]))[1], name)
    return numbers(first, name, footer.path, footer.place)[:0]


def _without_dictionary(column: Any) -> Any:
    """Return the column; of a dictionary, which all batches share, the places in it."""
    return getattr(column, "indices", column)


def _id_dtype(types: list[Any]) -> np.dtype[Any]:
    import pyarrow as pa

    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    # int32 holds all of these; uint32 and the 64-bit types need more
    small = (pa.int32(), pa.int16(), pa.int8(), pa.uint16(), pa.uint8())
    return np.dtype(np.int32 if all(kind in small for kind in plain) else np.int64)


# Writing


class Groups:
    """Row groups of equal size, whatever the size of the batches they come in, so that equal rows are equal bytes."""

    def __init__(self, writer: Any, group: int, most: int, path: Path) -> None:
        self._writer, self._group, self._waiting, self._count, self._written = writer, group, list[Any](), 0, 0
        self._most, self._bytes, self._path = most, 0, path

    def add(self, batch: pa.RecordBatch, mask: Array) -> None:
        """Add the rows of a batch with a True in `mask`."""
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
        """Write what is left; return the number of rows written."""
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
    """Give a Parquet writer into `handle` with checksums, and encodings as the metadata `like` has them.

    After an error nothing more is written.
    """
    from pyarrow import parquet

    options = {} if like is None or like.num_row_groups == 0 else _encodings(like)
    sink = FooterSink(handle)
    writer = parquet.ParquetWriter(sink, schema, write_page_checksum=True, **options)
    try:
        yield writer
        sink.hold()
        writer.close()
        sink.finish()
    except BaseException:
        writer.is_open = False  # or the garbage collector has it write a footer to a file that is gone
        raise


def _described(path: Path) -> tuple[Any, Any]:
    """Return the schema, with its metadata, and the footer of a file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return file.schema_arrow, file.metadata


def _encodings(meta: Any) -> dict[str, Any]:
    """Return how the output is encoded: as the input's first row group is."""
    group = meta.row_group(0)
    columns = [group.column(c) for c in range(group.num_columns)]
    names = [meta.schema.column(c).path for c in range(group.num_columns)]  # a chunk may have another: damaged
    return {
        "compression": {name: _codec(column.compression) for name, column in zip(names, columns, strict=True)},
        "use_dictionary": [name for name, column in zip(names, columns, strict=True) if _repeats(column)],
        "use_deprecated_int96_timestamps": any(column.physical_type == "INT96" for column in columns),
    }


def _repeats(column: Any) -> bool:
    """Return whether a dictionary made a column smaller; if it did not, it is not tried again."""
    width = {"INT32": 4, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}.get(column.physical_type)
    if width is None:
        return bool(column.has_dictionary_page)
    return bool(column.has_dictionary_page and column.total_uncompressed_size < 0.8 * width * column.num_values)


def _codec(name: str) -> str:
    import pyarrow as pa

    if name == "UNCOMPRESSED":
        return "NONE"
    return name if name in ("GZIP", "ZSTD", "BROTLI", "LZ4") and pa.Codec.is_available(name.lower()) else "SNAPPY"
