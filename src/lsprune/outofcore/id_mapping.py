"""Replace ids of any kind by numbers 0..N-1 in order of appearance, and write the mapping to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.arrow_columns import refuse_null
from lsprune.files.columns import Place, row
from lsprune.files.edge_files import EdgeFiles, Kept, Piece, Shard, check_rows, split_nodes
from lsprune.files.manifest import Entry, hashed_write
from lsprune.files.memory_budget import show_size
from lsprune.files.node_table import NodeRows
from lsprune.files.parquet import writing
from lsprune.graph import Array
from lsprune.kernels import Runtime
from lsprune.outofcore.append_file import AppendFile
from lsprune.outofcore.id_numbering import IntegerNumbering, Numbering, StringNumbering
from lsprune.outofcore.node_features import Block, NodeTable, place_nodes

_ROW_BYTES = 72  # of a row while its ids are replaced: both ends interleaved, their order, and the distinct ids
NUMBER_FILES = ("source-numbers", "target-numbers")  # in the work folder
NUMBER_TYPE = np.dtype(np.int32)
Numberings = tuple[Numbering, Numbering]  # of sources and of targets; one object twice if they are one kind


class MappedEdges(EdgeFiles):
    """The same files with ids numbered 0..N-1, separately for each end if these are two kinds of nodes.

    Shards are written with the original ids.
    """

    def __init__(
        self, files: EdgeFiles, numberings: Numberings, entry: Entry, named: tuple[int, int],
        numbers: tuple[Array, Array] | None = None,
    ) -> None:  # fmt: skip
        self._files, self._numberings = files, numberings
        self._numbers = numbers  # of both ends of every edge, if they were written to files
        self.entry = entry  # of the file with the mapping
        self.named = named  # how many ids the sources and the targets of edges have; tables may add more
        counts = (len(numberings[0]), len(numberings[1]))
        self.nodes, self.limits = split_nodes(counts if files.limits is not None else counts[0], False)
        self.inputs, self.names, self.labels = files.inputs, files.names, files.labels
        self.row_bytes = files.row_bytes + _ROW_BYTES
        self.attr_shape, self.attr_dtype = files.attr_shape, files.attr_dtype
        self.columns, self.column_names = files.columns, files.column_names
        self.features, self.end_features = files.features, files.end_features
        self.dtype = np.dtype(np.int32 if max(counts) <= np.iinfo(np.int32).max else np.int64)

    @property
    def edges(self) -> int | None:
        """Number of edges, as the files have them."""
        return self._files.edges

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The shards of the files."""
        return self._files.shards

    @property
    def memory(self) -> int:
        """About the bytes that the numbering uses."""
        return sum(numbering.memory() for numbering in set(self._numberings))

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """Check as the files do."""
        self._files.check_arrays(nodes)

    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield the edges with numbers as ids."""
        if self._numbers is not None and not attributes and not columns:
            yield from self._numbered(rows)
            return
        at = 0
        for piece in self._files.pieces(rows, attributes, spelled=True, columns=columns):
            source, target = self._look_up(piece) if self._numbers is None else self._stored(piece, at)
            at += len(source)
            yield replace(piece, source=source, target=target)

    def _numbered(self, rows: int) -> Iterator[Piece]:
        """Yield the edges from the files of numbers, without a look at the input."""
        assert self._numbers is not None
        for lo in range(0, self._numbers[0].shape[0], rows):
            source, target = (end[lo : lo + rows].astype(self.dtype) for end in self._numbers)
            yield Piece(self.inputs[0], lo, source, target, None, row)

    def _stored(self, piece: Piece, at: int) -> tuple[Array, Array]:
        """Return the numbers of both ends of a piece, the first of which is edge `at` of the input."""
        assert self._numbers is not None
        count = len(piece.source)
        source, target = (end[at : at + count].astype(self.dtype) for end in self._numbers)
        if source.shape[0] != count:
            raise _changed_error(piece.path)
        return source, target

    def _look_up(self, piece: Piece) -> tuple[Array, Array]:
        """Return the numbers of both ends of a piece."""
        both = []
        for numbering, ids in zip(self._numberings, _ids_of(piece, self._files), strict=True):
            numbers = numbering.find(ids)
            if numbers is None:
                raise _changed_error(piece.path)
            both.append(numbers.astype(self.dtype))
        return both[0], both[1]

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows as the files do, with their own ids."""
        return self._files.write_shard(shard, handle, kept, rows)

    def number(self, block: Block, name: str, end: int = 0) -> Array:
        """Return the numbers `[n]` of the ids in a block of the node table of an end."""
        numbers = self._numberings[end].find(_table_ids(block, name, self._numberings[end]))
        if numbers is None:
            raise _changed_error(block.path)
        return numbers

    def place(self, table: NodeTable, end: int, out: Path) -> NodeRows:
        """Return the rows of a table ordered by number; raise GraphError if an id of the edges is missing there."""
        numbering = self._numberings[end]
        rows = place_nodes(table, len(numbering), lambda block, name: self.number(block, name, end), out)
        known = None if rows.known is None else rows.known[: self.named[end]]
        if known is not None and not known.all():
            missing = numbering.value(int(np.flatnonzero(~known)[0]))
            raise GraphError(f"{table.path}: ids in edges must be among the nodes, got {missing!r}, which is not there")
        return rows


def map_ids(
    files: EdgeFiles,
    out: str | os.PathLike[str],
    *,
    memory: int,
    rows: int = 1 << 18,
    tables: tuple[NodeTable | None, NodeTable | None] = (None, None),
    folder: Path | None = None,
    runtime: Runtime | None = None,
) -> MappedEdges:
    """Return the edge list with its ids numbered 0..N-1 as they first appear, a row's source before its target.

    Args:
        files: what `open_edges` returns; ids are strings, or integers of any size.
        out: a Parquet file to write, with the columns `id` and `node`. Two kinds of nodes are numbered separately, and
            a column `end` tells them apart.
        memory: bytes that the numbering may use; OptionError, with the memory needed, if the ids do not fit.
        rows: about the number of rows in memory at a time.
        tables: of the sources (or of all nodes) and of the targets; ids that no edge has are numbered last.
        folder: where to keep the numbers of both ends, 8 bytes an edge, so that ids are looked up once. None: they are
            looked up whenever the edges are read.
    """
    check_rows(rows)
    new: list[Numbering] = []  # one for both ends, or one for each
    stored = None if folder is None else [_new_file(folder / name) for name in NUMBER_FILES]
    read = 0
    for piece in files.pieces(rows, attributes=False, spelled=True):
        ids = _ids_of(piece, files)
        new = new or [_numbering(column.type, runtime) for column in (ids[:1] if files.limits is None else ids)]
        if len(new) == 1:
            both = new[0].number(*ids)
        else:
            both = tuple(numbering.number(column)[0] for numbering, column in zip(new, ids, strict=True))
        if stored is not None:
            for file, numbers in zip(stored, both, strict=True):
                file.add(numbers)
        read += len(piece.source)
        if sum(numbering.memory() for numbering in new) > memory:
            raise _too_many_error(new, memory, read, files.edges, piece.path)
    numberings = _pair(new, files.limits is not None)
    named = (len(numberings[0]), len(numberings[1]))
    for numbering, table in zip(numberings, tables, strict=True):
        if table is None or not table.columns.id:
            continue
        for block in table.read(False):
            numbering.add(_table_ids(block, table.columns.id, numbering).unique())
            if sum(other.memory() for other in set(numberings)) > memory:
                raise _too_many_error(list(set(numberings)), memory, read, files.edges, block.path)
    entry = hashed_write(out, lambda handle: _write(numberings, handle))
    kept = None if stored is None else (stored[0].close(), stored[1].close())
    fit = max(map(len, numberings)) <= np.iinfo(NUMBER_TYPE).max  # else ids are looked up again
    return MappedEdges(files, numberings, entry, named, kept if fit else None)


def _new_file(path: Path) -> AppendFile:
    path.unlink(missing_ok=True)  # of a run that was stopped
    return AppendFile(path, NUMBER_TYPE)


def _changed_error(path: Path) -> FormatError:
    return FormatError(f"{path}: has an id that it had not before; it was changed while it was read")


def _pair(numberings: list[Numbering], two_kinds: bool) -> Numberings:
    """Return the numberings of both ends: the same object unless they are two kinds."""
    if not numberings:
        numberings = [IntegerNumbering(), IntegerNumbering()] if two_kinds else [IntegerNumbering()]
    return numberings[0], numberings[-1]


def _table_ids(block: Block, name: str, numbering: Numbering) -> Any:
    """Return the ids of a block of a node table, in the type of the ids of the edges."""
    import pyarrow as pa

    ids = _column(block.ids, name, block.path, block.place)
    if ids.type == numbering.kind:
        return ids
    if pa.types.is_integer(ids.type) and pa.types.is_string(numbering.kind):
        return ids.cast(pa.string())  # ids of a text file are strings, also where its node table has integers
    if not len(numbering):
        raise FormatError(f"{block.path}: column {name!r} has ids, and there are no edges")
    raise FormatError(f"{block.path}: column {name!r} has {ids.type} ids, and the edges {numbering.kind}")


def _too_many_error(numberings: list[Numbering], memory: int, read: int, edges: int | None, path: Path) -> OptionError:
    used, count = sum(numbering.memory() for numbering in numberings), sum(map(len, numberings))
    share = "" if edges is None else f" of {edges}"
    least = used if edges is None else used * edges // max(1, read)
    return OptionError(
        f"{path}: the distinct ids do not fit in {show_size(memory)}: {count} of them in the first {read}{share} "
        f"edges take {show_size(used)}, all need {'more' if edges is None else f'up to about {show_size(least)}'}; "
        "give more memory, or number the ids 0..N-1 beforehand"
    )


def _numbering(kind: Any, runtime: Runtime | None) -> Numbering:
    import pyarrow as pa

    return IntegerNumbering() if pa.types.is_integer(kind) else StringNumbering(kind, runtime)


def _ids_of(piece: Piece, files: EdgeFiles) -> tuple[Any, Any]:
    """Return the ids of both ends as Arrow arrays, of one type unless these are two kinds of nodes."""
    labels = files.labels
    source, target = (
        _column(end, label, piece.path, piece.place) for end, label in zip(piece.ends, labels, strict=True)
    )
    if files.limits is None and source.type != target.type:
        raise FormatError(f"{piece.path}: column {labels[0]!r} has {source.type} and {labels[1]!r} {target.type} ids")
    return source, target


def _column(end: Any, label: str, path: Path, place: Place) -> Any:
    """Return ids as an Arrow array of int64, string or binary; raise FormatError if they are of another type."""
    import pyarrow as pa

    column = pa.array(np.ascontiguousarray(end)) if isinstance(end, np.ndarray) else end
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    refuse_null(column, label, path, place)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind):
        target = pa.int64()
    elif str(kind) in ("string", "large_string", "string_view"):
        target = pa.string()
    elif str(kind) in ("binary", "large_binary", "binary_view"):
        target = pa.binary()
    else:
        raise FormatError(f"{path}: column {label!r}: ids must be whole numbers or strings, got {kind}")
    try:
        return column.cast(target)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path}: column {label!r}: {str(error).splitlines()[0][:120]}") from None


def _write(numberings: Numberings, handle: BinaryIO) -> int:
    """Write the mapping as Parquet; return the number of rows."""
    import pyarrow as pa

    two_kinds = numberings[0] is not numberings[1]
    if two_kinds and numberings[0].kind != numberings[1].kind:
        kind: Any = pa.string()  # one column holds both
    else:
        kind = numberings[0].kind
    fields = [("id", kind), ("node", pa.int64())] + [("end", pa.string())] * two_kinds
    written = 0
    with writing(handle, pa.schema(fields)) as writer:
        for end, numbering in zip(("source", "target"), numberings if two_kinds else numberings[:1], strict=False):
            first = 0
            for ids in numbering.chunks():
                nodes = pa.array(np.arange(first, first + len(ids)))
                ends = [pa.array([end] * len(ids))] * two_kinds
                writer.write_table(pa.table([ids.cast(kind), nodes, *ends], writer.schema))
                first += len(ids)
            written += first
    return written
