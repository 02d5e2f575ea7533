"""Replace ids of any kind by numbers 0..N-1 in order of appearance, and write the mapping to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.arrow_columns import refuse_null
from lsprune.files.columns import Place
from lsprune.files.edge_files import EdgeFiles, Kept, Piece, Shard, check_rows, split_nodes
from lsprune.files.manifest import Entry, hashed_write
from lsprune.files.memory_budget import show_size
from lsprune.files.node_table import NodeRows
from lsprune.files.parquet import writing
from lsprune.graph import Array
from lsprune.outofcore.id_numbering import IntegerNumbering, Numbering, StringNumbering
from lsprune.outofcore.node_features import Block, NodeTable, place_nodes

_ROW_BYTES = 72  # of a row while its ids are replaced: both ends interleaved, their order, and the distinct ids
Numberings = tuple[Numbering, Numbering]  # of sources and of targets; one object twice if they are one kind


class MappedEdges(EdgeFiles):
    """The same files with ids numbered 0..N-1, separately for each end if these are two kinds of nodes.

    Shards are written with the original ids.
    """

    def __init__(self, files: EdgeFiles, numberings: Numberings, entry: Entry, named: tuple[int, int]) -> None:
        self._files, self._numberings = files, numberings
        self.entry = entry  # of the file with the mapping
        self.named = named  # how many ids the sources and the targets of edges have; tables may add more
        counts = (len(numberings[0]), len(numberings[1]))
        self.nodes, self.limits = split_nodes(counts if files.limits is not None else counts[0], False)
        self.inputs, self.names, self.labels = files.inputs, files.names, files.labels
        self.row_bytes = files.row_bytes + _ROW_BYTES
        self.attr_shape, self.attr_dtype = files.attr_shape, files.attr_dtype
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

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """Yield the edges with numbers as ids."""
        for piece in self._files.pieces(rows, attributes, spelled=True):
            both = []
            for numbering, (ids, codes) in zip(self._numberings, _distinct(piece, self._files), strict=False):
                numbers = numbering.find(ids)
                if numbers is None:
                    raise _changed_error(piece.path)
                both.append(numbers.astype(self.dtype)[codes])
            source, target = both if len(both) == 2 else (both[0][0::2], both[0][1::2])
            yield Piece(piece.path, piece.first, source, target, piece.edge_attr, piece.place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows as the files do, with their own ids."""
        return self._files.write_shard(shard, handle, kept, rows)

    def number(self, block: Block, name: str, end: int = 0) -> Array:
        """Return the numbers `[n]` of the ids in a block of the node table of an end."""
        ids = _table_ids(block, name, self._numberings[end])
        coded = ids.dictionary_encode()
        numbers = self._numberings[end].find(coded.dictionary)
        if numbers is None:
            raise _changed_error(block.path)
        return np.asarray(numbers[coded.indices.to_numpy()])

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
) -> MappedEdges:
    """Return the edge list with its ids numbered 0..N-1 as they first appear, a row's source before its target.

    Args:
        files: what `open_edges` returns; ids are strings, or integers of any size.
        out: a Parquet file to write, with the columns `id` and `node`. Two kinds of nodes are numbered separately, and
            a column `end` tells them apart.
        memory: bytes that the numbering may use; OptionError, with the memory needed, if the ids do not fit.
        rows: about the number of rows in memory at a time.
        tables: of the sources (or of all nodes) and of the targets; ids that no edge has are numbered last.
    """
    check_rows(rows)
    new: list[Numbering] = []  # one for both ends, or one for each
    read = 0
    for piece in files.pieces(rows, attributes=False, spelled=True):
        both = _distinct(piece, files)
        new = new or [_numbering(ids.type) for ids, _ in both]
        for numbering, (ids, _) in zip(new, both, strict=True):
            numbering.add(ids)
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
    return MappedEdges(files, numberings, entry, named)


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


def _numbering(kind: Any) -> Numbering:
    import pyarrow as pa

    return IntegerNumbering() if pa.types.is_integer(kind) else StringNumbering(kind)


def _distinct(piece: Piece, files: EdgeFiles) -> list[tuple[Any, Array]]:
    """Return (distinct ids in order of appearance, index of each id among them): one pair for both ends `[2 n]`.

    One pair for each end `[n]` if these are two kinds of nodes.
    """
    import pyarrow as pa

    labels = files.labels
    source, target = (
        _column(end, label, piece.path, piece.place) for end, label in zip(piece.ends, labels, strict=True)
    )
    if files.limits is not None:
        return [(coded.dictionary, coded.indices.to_numpy()) for coded in map(_encoded, (source, target))]
    if source.type != target.type:
        raise FormatError(f"{piece.path}: column {labels[0]!r} has {source.type} and {labels[1]!r} {target.type} ids")
    count = len(source)
    order = np.arange(2 * count).reshape(2, count).T.reshape(-1)  # s0 t0 s1 t1 ...
    coded = _encoded(pa.concat_arrays([source, target]).take(pa.array(order)))
    return [(coded.dictionary, coded.indices.to_numpy())]


def _encoded(ids: Any) -> Any:
    return ids.dictionary_encode()


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
