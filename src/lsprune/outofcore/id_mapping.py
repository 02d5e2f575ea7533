"""Ids of any kind numbered 0..N-1 in the order in which they first appear, and the mapping as a file."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.arrow_columns import refuse_null
from lsprune.files.columns import Place
from lsprune.files.edge_files import EdgeFiles, Kept, Piece, Shard, check_rows, split_nodes
from lsprune.files.manifest import Entry, hashed_write
from lsprune.files.node_table import NodeRows
from lsprune.files.parquet import writing
from lsprune.graph import Array
from lsprune.outofcore.node_features import Block, NodeTable, place_nodes

_CHUNK_ROWS = 1 << 20  # rows of the mapping written at a time
_ROW_BYTES = 72  # that a row takes on its way from ids to numbers: both ends in turn, their order, and a table of them


class Numbering(ABC):
    """The number of each id; ids get the next free number when they are added."""

    kind: Any  # Arrow type of the ids

    @abstractmethod
    def add(self, ids: Any) -> None:
        """Number those of the ids (Arrow, distinct) that have none, in their order."""

    @abstractmethod
    def find(self, ids: Any) -> Array | None:
        """Return the numbers `[n]` int64 of ids (Arrow, distinct); None where one has none."""

    @abstractmethod
    def chunks(self) -> Iterator[Any]:
        """Yield all ids in the order of their numbers, as Arrow arrays."""

    def value(self, number: int) -> Any:
        """Return the id that has this number."""
        first = 0
        for ids in self.chunks():
            if number < first + len(ids):
                return ids[number - first].as_py()
            first += len(ids)
        raise IndexError(number)

    @abstractmethod
    def __len__(self) -> int:
        """Return how many ids are numbered."""

    @abstractmethod
    def memory(self) -> int:
        """Return about the bytes it takes at most when the next ids are added."""


Numberings = tuple[Numbering, Numbering]  # of sources and of targets; one object twice where they are one kind


class Words(Numbering):
    """Strings in a dictionary."""

    def __init__(self, kind: Any) -> None:
        self.kind, self._numbers, self._text = kind, dict[Any, int](), 0

    def add(self, ids: Any) -> None:
        """Number new strings."""
        numbers, before = self._numbers, len(self._numbers)
        for word in ids.to_pylist():
            numbers.setdefault(word, len(numbers))
        mean = sys.getsizeof("") + -(-int(ids.nbytes) // max(1, len(ids)))
        self._text += mean * (len(numbers) - before)

    def find(self, ids: Any) -> Array | None:
        """Return the numbers of strings."""
        numbers = np.array([self._numbers.get(word, -1) for word in ids.to_pylist()], np.int64)
        return None if numbers.size and numbers.min() < 0 else numbers

    def chunks(self) -> Iterator[Any]:
        """Yield strings in order: a dictionary keeps that in which they came."""
        import pyarrow as pa

        words = iter(self._numbers)
        while chunk := list(islice(words, _CHUNK_ROWS)):
            yield pa.array(chunk, self.kind)

    def __len__(self) -> int:
        return len(self._numbers)

    def memory(self) -> int:
        """Text, numbers, and a table that is copied to twice its size when it is full."""
        return self._text + 32 * len(self) + 3 * sys.getsizeof(self._numbers)


class Integers(Numbering):
    """Whole numbers in sorted runs, each at least twice as long as the next, so that there are few of them."""

    def __init__(self) -> None:
        import pyarrow as pa

        self.kind = pa.int64()
        self._runs: list[tuple[Array, Array]] = []  # ids sorted, and their numbers
        self._count = 0

    def add(self, ids: Any) -> None:
        """Number new integers."""
        values = ids.to_numpy()
        new = values[self._look(values) < 0]
        if new.size == 0:
            return
        order = np.argsort(new, kind="stable")
        self._runs.append((new[order], self._count + order))
        self._count += new.size
        while len(self._runs) > 1 and self._runs[-2][0].size < 2 * self._runs[-1][0].size:
            first, second = self._runs.pop(), self._runs.pop()
            values, numbers = (np.concatenate(pair) for pair in zip(first, second, strict=True))
            order = np.argsort(values, kind="stable")
            self._runs.append((values[order], numbers[order]))

    def find(self, ids: Any) -> Array | None:
        """Return the numbers of integers."""
        numbers = self._look(ids.to_numpy())
        return None if numbers.size and numbers.min() < 0 else numbers

    def chunks(self) -> Iterator[Any]:
        """Yield integers in the order of their numbers."""
        import pyarrow as pa

        ordered = np.empty(self._count, np.int64)
        for values, numbers in self._runs:
            ordered[numbers] = values
        for lo in range(0, self._count, _CHUNK_ROWS):
            yield pa.array(ordered[lo : lo + _CHUNK_ROWS])

    def __len__(self) -> int:
        return self._count

    def memory(self) -> int:
        """Ids and numbers, their order and their copy while runs are joined."""
        return 5 * 8 * self._count

    def _look(self, values: Array) -> Array:
        order = np.argsort(values)  # one search after the other then finds its keys near those of the last
        values = values[order]
        result = np.full(values.shape[0], -1, np.int64)
        for keys, numbers in self._runs:
            at = np.minimum(np.searchsorted(keys, values), keys.size - 1)
            hit = keys[at] == values
            result[order[hit]] = numbers[at[hit]]
        return result


class MappedEdges(EdgeFiles):
    """The same files with ids numbered 0..N-1, each end by itself if they are two kinds of nodes.

    Shards keep the columns as they are.
    """

    def __init__(self, files: EdgeFiles, numberings: Numberings, entry: Entry, named: tuple[int, int]) -> None:
        self._files, self._numberings = files, numberings
        self.entry = entry  # of the file with the mapping
        self.named = named  # how many ids the sources and the targets of edges have; tables may bring more
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
        """Those of the files."""
        return self._files.shards

    @property
    def memory(self) -> int:
        """About the bytes that the numbering takes as long as this is used."""
        return sum(numbering.memory() for numbering in set(self._numberings))

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """As the files do."""
        self._files.check_arrays(nodes)

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """Yield the edges with the numbers of their ids."""
        for piece in self._files.pieces(rows, attributes, spelled=True):
            both = []
            for numbering, (ids, codes) in zip(self._numberings, _distinct(piece, self._files), strict=False):
                numbers = numbering.find(ids)
                if numbers is None:
                    raise FormatError(
                        f"{piece.path}: has an id that it had not before; it was changed while it was read"
                    )
                both.append(numbers.astype(self.dtype)[codes])
            source, target = both if len(both) == 2 else (both[0][0::2], both[0][1::2])
            yield Piece(piece.path, piece.first, source, target, piece.edge_attr, piece.place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows as the files do, with their own ids."""
        return self._files.write_shard(shard, handle, kept, rows)

    def number(self, block: Block, name: str, end: int = 0) -> Array:
        """Return the numbers of the nodes in rows of the table of nodes of an end."""
        ids = _table_ids(block, name, self._numberings[end])
        coded = ids.dictionary_encode()
        numbers = self._numberings[end].find(coded.dictionary)
        if numbers is None:
            raise FormatError(f"{block.path}: has an id that it had not before; it was changed while it was read")
        return np.asarray(numbers[coded.indices.to_numpy()])

    def place(self, table: NodeTable, end: int, out: Path) -> NodeRows:
        """Return the rows of a table in the places of their nodes; GraphError if it lacks an id of the edges."""
        numbering = self._numberings[end]
        rows = place_nodes(table, len(numbering), lambda block, name: self.number(block, name, end), out)
        known = None if rows.known is None else rows.known[: self.named[end]]
        if known is not None and not known.all():
            lost = numbering.value(int(np.flatnonzero(~known)[0]))
            raise GraphError(f"{table.path}: ids in edges must be among the nodes, got {lost!r}, which is not there")
        return rows


def map_ids(
    files: EdgeFiles,
    out: str | os.PathLike[str],
    *,
    memory: int,
    rows: int = 1 << 18,
    name: str | None = None,
    tables: tuple[NodeTable | None, NodeTable | None] = (None, None),
) -> MappedEdges:
    """Return the edge list with its ids numbered 0..N-1 as they first appear, a row's source before its target.

    Args:
        files: what `open_edges` gives; ids are strings, or integers that need not be small or close.
        out: a Parquet file to write, with the columns `id` and `node`; where sources and targets are two kinds of
            nodes, each is numbered by itself, and a column `end` says which it is.
        memory: bytes that the numbering may take; more ids than fit are an OptionError that says how much they need.
        rows: about the number of rows in memory at a time.
        name: that of the file's manifest entry; default its own.
        tables: of the sources (or of all nodes) and of the targets; ids that no edge has get the next numbers.
    """
    check_rows(rows)
    appeared: list[Numbering] = []  # of both ends, or of each
    read = 0
    for piece in files.pieces(rows, attributes=False, spelled=True):
        both = _distinct(piece, files)
        appeared = appeared or [_numbering(ids.type) for ids, _ in both]
        for numbering, (ids, _) in zip(appeared, both, strict=True):
            numbering.add(ids)
        read += len(piece.source)
        if sum(numbering.memory() for numbering in appeared) > memory:
            raise OptionError(_too_many(appeared, memory, read, files.edges, piece.path))
    numberings = _pair(appeared, files.limits is not None)
    named = (len(numberings[0]), len(numberings[1]))
    for numbering, table in zip(numberings, tables, strict=True):
        for block in table.read(False) if table is not None and table.columns.id else ():
            numbering.add(_table_ids(block, table.columns.id or "", numbering).unique())  # type: ignore[union-attr]
            if sum(other.memory() for other in set(numberings)) > memory:
                raise OptionError(_too_many(list(set(numberings)), memory, read, files.edges, block.path))
    entry = hashed_write(out, lambda handle: _write(numberings, handle), name=name)
    return MappedEdges(files, numberings, entry, named)


def _pair(numberings: list[Numbering], two_kinds: bool) -> Numberings:
    """Return the numbering of either end: the same unless they are two kinds."""
    if not numberings:
        numberings = [Integers(), Integers()] if two_kinds else [Integers()]
    return numberings[0], numberings[-1]


def _table_ids(block: Block, name: str, numbering: Numbering) -> Any:
    """Return the ids of rows of a table of nodes, of the type that the ids of the edges have."""
    import pyarrow as pa

    ids = _column(block.ids, name, block.path, block.place)
    if ids.type == numbering.kind:
        return ids
    if pa.types.is_integer(ids.type) and pa.types.is_string(numbering.kind):
        return ids.cast(pa.string())  # text has no types: a table may well know that its ids are numbers
    if not len(numbering):
        raise FormatError(f"{block.path}: column {name!r} has ids, and there are no edges")
    raise FormatError(f"{block.path}: column {name!r} has {ids.type} ids, and the edges {numbering.kind}")


def _too_many(numberings: list[Numbering], memory: int, read: int, edges: int | None, path: Path) -> str:
    used, count = (sum(values) for values in zip(*((each.memory(), len(each)) for each in numberings), strict=True))
    share = "" if edges is None else f" of {edges}"
    least = used if edges is None else used * edges // max(1, read)
    return (
        f"{path}: the distinct ids do not fit in {_size(memory)}: {count} of them in the first {read}{share} "
        f"edges take {_size(used)}, all need {'more' if edges is None else f'up to about {_size(least)}'}; "
        "give more memory, or number the ids 0..N-1 beforehand"
    )


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e7 else f"{count / 1e6:.2f} MB"


def _numbering(kind: Any) -> Numbering:
    import pyarrow as pa

    return Integers() if pa.types.is_integer(kind) else Words(kind)


def _distinct(piece: Piece, files: EdgeFiles) -> list[tuple[Any, Array]]:
    """Return (distinct ids as they first appear, which of them each end is): of both ends [2 n], or of each.

    Each by itself where sources and targets are two kinds of nodes.
    """
    import pyarrow as pa

    labels = files.labels
    source, target = (
        _column(end, label, piece.path, piece.place) for end, label in zip(piece.ends, labels, strict=True)
    )
    if files.limits is not None:
        return [(coded.dictionary, coded.indices.to_numpy()) for coded in map(_coded, (source, target))]
    if source.type != target.type:
        raise FormatError(f"{piece.path}: column {labels[0]!r} has {source.type} and {labels[1]!r} {target.type} ids")
    count = len(source)
    order = np.arange(2 * count).reshape(2, count).T.reshape(-1)  # s0 t0 s1 t1 ...
    coded = _coded(pa.concat_arrays([source, target]).take(pa.array(order)))
    return [(coded.dictionary, coded.indices.to_numpy())]


def _coded(ids: Any) -> Any:
    return ids.dictionary_encode()


def _column(end: Any, label: str, path: Path, place: Place) -> Any:
    import pyarrow as pa

    column = pa.array(np.ascontiguousarray(end)) if isinstance(end, np.ndarray) else end
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    refuse_null(column, label, path, place)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind):
        wanted = pa.int64()
    elif str(kind) in ("string", "large_string", "string_view"):
        wanted = pa.string()
    elif str(kind) in ("binary", "large_binary", "binary_view"):
        wanted = pa.binary()
    else:
        raise FormatError(f"{path}: column {label!r}: ids must be whole numbers or strings, got {kind}")
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path}: column {label!r}: {str(error).splitlines()[0][:120]}") from None


def _write(numberings: Numberings, handle: BinaryIO) -> int:
    import pyarrow as pa

    two = numberings[0] is not numberings[1]
    if two and numberings[0].kind != numberings[1].kind:
        kind: Any = pa.string()  # one column holds both
    else:
        kind = numberings[0].kind
    fields = [("id", kind), ("node", pa.int64())] + [("end", pa.string())] * two
    written = 0
    with writing(handle, pa.schema(fields)) as writer:
        for end, numbering in zip(("source", "target"), numberings if two else numberings[:1], strict=False):
            first = 0
            for ids in numbering.chunks():
                nodes = pa.array(np.arange(first, first + len(ids)))
                more = [pa.array([end] * len(ids))] * two
                writer.write_table(pa.table([ids.cast(kind), nodes, *more], writer.schema))
                first += len(ids)
            written += first
    return written
