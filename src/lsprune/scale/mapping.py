"""Ids of any kind numbered 0..N-1 in the order in which they first appear, and the mapping as a file."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lsprune.adapters.files.table import refuse_null
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array
from lsprune.scale.inputs.base import EdgeFiles, Kept, Piece, Shard, check_rows
from lsprune.scale.inputs.parquet import writing
from lsprune.scale.manifest import Entry, hashed_write

_CHUNK = 1 << 20  # rows of the mapping written at a time
_ROW = 72  # bytes a row takes on its way from ids to numbers: both ends in turn, their order, and a table of them


class Numbering(ABC):
    """The number of each id; ids get the next free number when they are added."""

    kind: Any  # Arrow type of the ids

    @abstractmethod
    def add(self, ids: Any) -> None:
        """Number those of the ids (Arrow, distinct) that have none, in their order."""

    @abstractmethod
    def find(self, ids: Any) -> Array | None:
        """The numbers `[n]` int64 of ids (Arrow, distinct); None where one has none."""

    @abstractmethod
    def chunks(self) -> Iterator[Any]:
        """All ids in the order of their numbers, as Arrow arrays."""

    @abstractmethod
    def __len__(self) -> int:
        """How many ids are numbered."""

    @abstractmethod
    def memory(self) -> int:
        """About the bytes it takes at most when the next ids are added."""


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
        """The numbers of strings."""
        found = [self._numbers.get(word, -1) for word in ids.to_pylist()]
        array = np.array(found, np.int64)
        return None if array.size and array.min() < 0 else array

    def chunks(self) -> Iterator[Any]:
        """Strings in order: a dictionary keeps that in which they came."""
        import pyarrow as pa

        some = []
        for word in self._numbers:
            some.append(word)
            if len(some) == _CHUNK:
                yield pa.array(some, self.kind)
                some = []
        if some:
            yield pa.array(some, self.kind)

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
        """The numbers of integers."""
        found = self._look(ids.to_numpy())
        return None if found.size and found.min() < 0 else found

    def chunks(self) -> Iterator[Any]:
        """Integers in the order of their numbers."""
        import pyarrow as pa

        ordered = np.empty(self._count, np.int64)
        for values, numbers in self._runs:
            ordered[numbers] = values
        for lo in range(0, self._count, _CHUNK):
            yield pa.array(ordered[lo : lo + _CHUNK])

    def __len__(self) -> int:
        return self._count

    def memory(self) -> int:
        """Ids and numbers, their order and their copy while runs are joined."""
        return 5 * 8 * self._count

    def _look(self, values: Array) -> Array:
        order = np.argsort(values)  # one search after the other then finds its keys near those of the last
        values = values[order]
        found = np.full(values.shape[0], -1, np.int64)
        for keys, numbers in self._runs:
            at = np.minimum(np.searchsorted(keys, values), keys.size - 1)
            hit = keys[at] == values
            found[hit] = numbers[at[hit]]
        placed = np.empty_like(found)
        placed[order] = found
        return placed


class MappedEdges(EdgeFiles):
    """The same files with ids numbered 0..N-1; shards keep the columns as they are."""

    def __init__(self, files: EdgeFiles, numbering: Numbering, entry: Entry) -> None:
        self._files, self._numbering = files, numbering
        self.entry = entry  # of the file with the mapping
        self.nodes = len(numbering)
        self.inputs, self.names, self.labels = files.inputs, files.names, files.labels
        self.row_bytes = files.row_bytes + _ROW
        self.attr_shape, self.attr_dtype = files.attr_shape, files.attr_dtype
        self.dtype = np.dtype(np.int32 if self.nodes <= np.iinfo(np.int32).max else np.int64)

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
        return self._numbering.memory()

    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """The edges with the numbers of their ids."""
        for piece in self._files.pieces(rows, attributes, spelled=True):
            ids, codes = _distinct(piece, self.labels)
            numbers = self._numbering.find(ids)
            if numbers is None:
                raise FormatError(f"{piece.path}: has an id that it had not before; it was changed while it was read")
            both = numbers.astype(self.dtype)[codes]
            yield Piece(piece.path, piece.first, both[0::2], both[1::2], piece.edge_attr, piece.place)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows as the files do, with their own ids."""
        return self._files.write_shard(shard, handle, kept, rows)


def map_ids(
    files: EdgeFiles, out: str | os.PathLike[str], *, memory: int, rows: int = 1 << 18, name: str | None = None
) -> MappedEdges:
    """The edge list with its ids numbered 0..N-1, in the order of first appearance, a row's source before its target.

    Args:
        files: what `open_edges` gives; ids are strings, or integers that need not be small or close.
        out: a Parquet file to write, with the columns `id` and `node`.
        memory: bytes that the numbering may take; more ids than fit are an OptionError that says how much they need.
        rows: about the number of rows in memory at a time.
        name: that of the file's manifest entry; default its own.
    """
    check_rows(rows)
    numbering: Numbering | None = None
    read = 0
    for piece in files.pieces(rows, attributes=False, spelled=True):
        ids, codes = _distinct(piece, files.labels)
        numbering = _numbering(ids.type) if numbering is None else numbering
        numbering.add(ids)
        read += codes.shape[0] // 2
        if numbering.memory() > memory:
            raise OptionError(_too_many(numbering, memory, read, files.edges, piece.path))
    numbering = Integers() if numbering is None else numbering
    found = numbering
    entry = hashed_write(out, lambda handle: _write(found, handle), name=name)
    return MappedEdges(files, numbering, entry)


def _too_many(numbering: Numbering, memory: int, read: int, edges: int | None, path: Path) -> str:
    used = numbering.memory()
    share = "" if edges is None else f" of {edges}"
    least = used if edges is None else used * edges // max(1, read)
    return (
        f"{path}: the distinct ids do not fit in {_size(memory)}: {len(numbering)} of them in the first {read}{share} "
        f"edges take {_size(used)}, all need {'more' if edges is None else f'up to about {_size(least)}'}; "
        "give more memory, or number the ids 0..N-1 beforehand"
    )


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e7 else f"{count / 1e6:.2f} MB"


def _numbering(kind: Any) -> Numbering:
    import pyarrow as pa

    return Integers() if pa.types.is_integer(kind) else Words(kind)


def _distinct(piece: Piece, labels: tuple[str, str]) -> tuple[Any, Array]:
    """The distinct ids of a piece in the order of appearance, and which of them each end `[2 n]` is."""
    import pyarrow as pa

    source, target = (_column(end, label, piece) for end, label in zip(piece.ends, labels, strict=True))
    if source.type != target.type:
        raise FormatError(f"{piece.path}: column {labels[0]!r} has {source.type} and {labels[1]!r} {target.type} ids")
    count = len(source)
    order = np.arange(2 * count).reshape(2, count).T.reshape(-1)  # s0 t0 s1 t1 ...
    coded = pa.concat_arrays([source, target]).take(pa.array(order)).dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy()


def _column(end: Any, label: str, piece: Piece) -> Any:
    import pyarrow as pa

    column = pa.array(np.ascontiguousarray(end)) if isinstance(end, np.ndarray) else end
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    refuse_null(column, label, piece.path, piece.place)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind):
        wanted = pa.int64()
    elif str(kind) in ("string", "large_string", "string_view"):
        wanted = pa.string()
    elif str(kind) in ("binary", "large_binary", "binary_view"):
        wanted = pa.binary()
    else:
        raise FormatError(f"{piece.path}: column {label!r}: ids must be whole numbers or strings, got {kind}")
    try:
        return column.cast(wanted)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{piece.path}: column {label!r}: {str(error).splitlines()[0][:120]}") from None


def _write(numbering: Numbering, handle: BinaryIO) -> int:
    import pyarrow as pa

    written = 0
    with writing(handle, pa.schema([("id", numbering.kind), ("node", pa.int64())])) as writer:
        for ids in numbering.chunks():
            nodes = pa.array(np.arange(written, written + len(ids)))
            writer.write_table(pa.table([ids, nodes], writer.schema))
            written += len(ids)
    return written
