"""Edge lists on disk, one class for each format: their edges in bounded batches, or all of them in memory.

A format gives its rows in pieces, whose ids are still as they stand in the file. `EdgeFiles` checks them, so that all
formats have the same rules and errors. Each format also has `load`, which gives all edges of one file in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, Protocol

import numpy as np

from lsprune.errors import OptionError
from lsprune.files.arrow_columns import integers, is_fractional
from lsprune.files.columns import Place, row
from lsprune.files.edge_options import NumNodes
from lsprune.files.ids import MAP_IDS, check_ids, far_error
from lsprune.files.node_table import NodeRows, check_ends
from lsprune.graph import Array
from lsprune.graph_arrays import NEAR, is_far

Kept = Callable[[int, int], Array]  # (first, last) -> [last - first] bool, True = kept; may be asked more than once


@dataclass(frozen=True, eq=False)
class Batch:
    """Edges that follow each other in the input."""

    first: int  # position of the first of them in the whole input
    source: Array  # [n] int32 or int64, checked
    target: Array  # [n]
    edge_attr: Array | None  # [n] or [n, d], when asked for
    columns: Mapping[str, Array] = field(default_factory=dict)  # [n] each, of the names that were asked for


@dataclass(frozen=True)
class Shard:
    """One output file: the kept ones of the edges first..last."""

    name: str  # relative to the output folder, the same as the input's; "" when the output is a single file
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows of one file with their ids as they stand there, not checked yet."""

    path: Path
    first: int
    source: Any  # [n] numpy, or an Arrow column
    target: Any
    edge_attr: Array | None
    place: Place  # how an error names a position in this piece
    columns: Mapping[str, Array] = field(default_factory=dict)  # [n] each, of the names that were asked for

    @property
    def ends(self) -> tuple[Any, Any]:
        """The two columns of ids."""
        return self.source, self.target


class Content(Protocol):
    """All that a file holds, ready to be written in part."""

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept edges in the format of `suffix`; FormatError where that format cannot hold the content."""

    def check(self, nodes: tuple[int, ...]) -> None:
        """Raise FormatError if it is not clear what belongs to the edges, given the number of nodes of either end."""

    @property
    def column_names(self) -> list[str]:
        """The names of all columns or arrays."""

    def column(self, name: str) -> Any:
        """Return a column of the edges, an Arrow column or an array `[E]`; None if there is none of that name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedEdges:
    """All edges of a file in memory, ids checked: two ends, or compressed rows and the other end."""

    content: Content
    names: tuple[str, str]  # of the two columns or arrays
    labels: tuple[str, str]  # of the two ends in errors
    source: Array | None = None
    target: Array | None = None
    indptr: Array | None = None
    rows: Literal["source", "target"] | None = None
    edge_attr: Array | None = None
    x: Any = None
    x_ends: tuple[Any, Any] = (None, None)  # of the sources and of the targets, where they are two kinds of nodes
    num_nodes: NumNodes = None  # as the caller says, else as the file says
    place: Place = row


class EdgeFiles(ABC):
    """An edge list on disk, which need not fit in memory; `open_edges` makes one."""

    inputs: tuple[Path, ...]  # every file, in reading order
    names: tuple[str, str]  # of the two columns or arrays
    labels: tuple[str, str]  # of the two ends in errors
    dtype: np.dtype[Any]  # of the ids in every batch
    nodes: int | None  # number of nodes where it was given or the file says it; None where they are of two kinds
    limits: tuple[int | None, int | None] | None = None  # of sources and of targets, where these are two kinds
    tables: tuple[NodeRows | None, NodeRows | None] = (None, None)  # that the ends of edges must be named in
    row_bytes: int  # about what a row takes in memory with all its columns; known after `prepare`
    attr_shape: tuple[int, ...] | None = None  # of a row of edge_attr; None without edge_attr
    attr_dtype: np.dtype[Any] | None = None
    columns: Mapping[str, np.dtype[Any]] = MappingProxyType({})  # types of those of `EdgeOptions.columns` that are here
    column_names: tuple[str, ...] = ()  # of all columns or arrays, for error messages
    is_text: bool = False  # it has to be parsed: slow enough that a copy of the values is worth its space
    features: Array | None = None  # node attributes inside the file (`x` of a .npz), memory-mapped
    end_features: tuple[Array | None, Array | None] = (None, None)  # the same of either end, where they are two kinds

    @property
    @abstractmethod
    def edges(self) -> int | None:
        """Number of edges; None where only reading tells and nobody has read to the end yet (text)."""

    @property
    @abstractmethod
    def shards(self) -> tuple[Shard, ...]:
        """The output files. Text whose edges are not counted yet is read once to count them."""

    def prepare(self) -> None:
        """Find out what streaming has to know beforehand: the type of the attributes, and the memory of a row."""
        return

    @abstractmethod
    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield all rows in order, not checked, in pieces of any size whose memory is about `rows` rows.

        `spelled`: ids may be anything, so text gives them as strings. `columns`: names out of `self.columns`.
        """

    @abstractmethod
    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows whose `kept(first, last)` is True, in order and whole; return (rows read, rows written).

        The memory is about `rows` rows of `row_bytes`. The same rows, kept and `rows` give the same bytes.
        """

    def batches(self, rows: int, *, attributes: bool = False, columns: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all edges in order, at most `rows` at a time, checked: no nulls, >= 0, < nodes where that is known."""
        check_rows(rows)
        return regroup(self._checked(rows, attributes, columns), rows)

    def node_array(self, name: str) -> Array | None:
        """Return an array of nodes that stands beside the edges in a `.npz`; None if there is none of this name."""
        return None

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """Raise FormatError if it is not clear what belongs to the edges; `nodes` of either end, where known."""
        return

    def limit(self, end: int) -> int | None:
        """Return the number of nodes that the end 0 (source) or 1 (target) of an edge may be, where it is known."""
        return self.nodes if self.limits is None else self.limits[end]

    def check_end(self, end: int, piece: Piece) -> Array:
        """Return the ids of an end of a piece as an array of this list's `dtype`; raise where one is wrong."""
        column, label, table = piece.ends[end], self.labels[end], self.tables[end]
        if not isinstance(column, np.ndarray):
            column = integers(column, label, piece.path, piece.place, "" if is_fractional(column.type) else MAP_IDS)
        joined = table is not None and table.joined  # it names its own nodes, and says which of them is missing
        check_ids(column, label, piece.path, piece.place, limit=None if joined else self.limit(end))
        if table is not None and joined:
            check_ends(column, label, table, int(table.x.shape[0]), piece.path, piece.place)
        return np.require(column, self.dtype, "A")

    def loaded(self, content: Content, source: Array | None, target: Array | None, **more: Any) -> LoadedEdges:
        """Return edges of this list that were read into memory and checked; `more` are fields of `LoadedEdges`."""
        more |= {"names": self.names, "labels": self.labels}
        nodes = self.nodes if self.limits is None else self.limits
        return LoadedEdges(content=content, source=source, target=target, num_nodes=nodes, **more)

    def _checked(self, rows: int, attributes: bool, columns: Sequence[str]) -> Iterator[Batch]:
        far = (NEAR - 1, "")  # the largest id that a small graph would not have, and where it stands
        for piece in self.pieces(rows, attributes, columns=columns):
            pair = [self.check_end(end, piece) for end in (0, 1)]
            for end, array in enumerate(pair):
                if self.limit(end) is None:
                    far = max(far, _farthest(array, self.labels[end], piece))
            attr = piece.edge_attr
            if attr is not None and self.attr_dtype is not None and self.attr_dtype.kind == "f":
                attr = attr.astype(self.attr_dtype, copy=False)  # whole numbers may be quantities
            yield Batch(piece.first, pair[0], pair[1], attr, piece.columns)
        if is_far(far[0], self.edges or 0):
            raise far_error(far[0], self.edges or 0, far[1])


def split_nodes(nodes: NumNodes, two_kinds: bool) -> tuple[int | None, tuple[int | None, int | None] | None]:
    """Return (number of nodes of one kind, numbers of two kinds), of which one is None."""
    if isinstance(nodes, tuple):
        return None, nodes
    return (None, (None, None)) if two_kinds else (nodes, None)


def check_rows(rows: int) -> None:
    """Raise OptionError if `rows` is no number of rows."""
    if rows < 1:
        raise OptionError(f"rows must be at least 1, got {rows}")


def regroup(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """Yield the same edges with large batches cut to `rows` and small ones joined; one that fits is not copied."""
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        for part in _cut(batch, rows):
            size = part.source.shape[0]
            if waiting and count + size > rows:
                yield _joined(waiting)
                waiting, count = [], 0
            waiting.append(part)
            count += size
    if waiting:
        yield _joined(waiting)


def _cut(batch: Batch, rows: int) -> Iterator[Batch]:
    size = batch.source.shape[0]
    if 0 < size <= rows:
        yield batch
        return
    for lo in range(0, size, rows):
        part = slice(lo, lo + rows)
        attr = None if batch.edge_attr is None else batch.edge_attr[part]
        columns = {name: column[part] for name, column in batch.columns.items()}
        yield Batch(batch.first + lo, batch.source[part], batch.target[part], attr, columns)


def _joined(parts: list[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    attr = None if parts[0].edge_attr is None else np.concatenate([part.edge_attr for part in parts])
    source, target = (np.concatenate([getattr(part, end) for part in parts]) for end in ("source", "target"))
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    return replace(parts[0], source=source, target=target, edge_attr=attr, columns=columns)


def _farthest(array: Array, label: str, piece: Piece) -> tuple[int, str]:
    top = int(array.max(initial=0))
    return (top, f"{piece.path}: column {label!r}, {piece.place(int(array.argmax()))}") if top >= NEAR else (0, "")
