"""What every kind of edge list on disk gives: edges in order in bounded pieces, and its kept rows written back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files import NumNodes
from lsprune.files.content import ids
from lsprune.files.node_table import NodeRows, check_ends
from lsprune.files.parquet import integers
from lsprune.graph import Array

OFFER = "; --map-ids (map_ids in Python) numbers such ids 0..N-1"
_NEAR = 64 << 20  # any graph may have that many nodes
Kept = Callable[[int, int], Array]  # (first, last) -> [last - first] bool, True = kept; may be asked more than once


@dataclass(frozen=True, eq=False)
class Batch:
    """Some edges that follow each other in the input."""

    first: int  # position of the first of them in the whole input
    source: Array  # [n] int32 or int64, checked
    target: Array  # [n]
    edge_attr: Array | None  # [n] or [n, d], when asked for


@dataclass(frozen=True)
class Shard:
    """One output file: the kept ones of the edges first..last."""

    name: str  # relative to the output folder, the same as the input's; "" when the output is a single file
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Piece:
    """What a reader hands up: some rows of one file with their ids as they stand there, not checked yet."""

    path: Path
    first: int
    source: Any  # [n] numpy, or an Arrow column
    target: Any
    edge_attr: Array | None
    place: Callable[[int], str]  # how a position in this piece is named in an error

    @property
    def ends(self) -> tuple[Any, Any]:
        """The two columns of ids."""
        return self.source, self.target


class EdgeFiles(ABC):
    """An edge list on disk that need not fit in memory; `open_edges` makes one."""

    inputs: tuple[Path, ...]  # every file, in reading order
    names: tuple[str, str]  # of the two columns or arrays
    labels: tuple[str, str]  # of the two ends in errors
    dtype: np.dtype[Any]  # of the ids in every batch
    nodes: int | None  # number of nodes where it was given or the file says it; None where they are of two kinds
    limits: tuple[int | None, int | None] | None = None  # of sources and of targets, where these are two kinds
    tables: tuple[NodeRows | None, NodeRows | None] = (None, None)  # that the ends of edges must be named in
    row_bytes: int  # about what a row takes in memory with all its columns
    attr_shape: tuple[int, ...] | None  # of a row of edge_attr; None without edge_attr
    attr_dtype: np.dtype[Any] | None
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

    @abstractmethod
    def pieces(self, rows: int, attributes: bool, spelled: bool = False) -> Iterator[Piece]:
        """All rows in order, not checked, in pieces of any size whose memory is about `rows` rows.

        `spelled`: ids may be anything, so text gives them as strings.
        """

    @abstractmethod
    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the rows whose `kept(first, last)` is True, in order and whole; gives (rows read, rows written).

        The memory is about `rows` rows of `row_bytes`. The same rows, kept and `rows` give the same bytes.
        """

    def batches(self, rows: int, *, attributes: bool = False) -> Iterator[Batch]:
        """All edges in order, at most `rows` at a time, checked: no nulls, >= 0, < nodes where that is known."""
        check_rows(rows)
        return regroup(self._checked(rows, attributes), rows)

    def check_arrays(self, nodes: tuple[int | None, int | None]) -> None:
        """FormatError where it is not clear what belongs to the edges; `nodes` of either end, where they are known."""
        return

    def limit(self, end: int) -> int | None:
        """The number of nodes that the end 0 (source) or 1 (target) of an edge may be, where it is known."""
        return self.nodes if self.limits is None else self.limits[end]

    def mapped(self) -> tuple[Array, Array] | None:
        """Sources and targets `[E]` as memory maps, their ids not checked; None where the format does not allow it."""
        return None

    def mapped_csr(self) -> tuple[Array, Array, Literal["source", "target"]] | None:
        """The memory maps indptr and indices of compressed rows, and which end the rows are; None for others."""
        return None

    def _checked(self, rows: int, attributes: bool) -> Iterator[Batch]:
        far = (_NEAR - 1, "")  # the largest id that a small graph would not have, and where it stands
        for piece in self.pieces(rows, attributes):
            pair = [self._ids(column, end, piece) for end, column in enumerate(piece.ends)]
            for end, array in enumerate(pair):
                if self.limit(end) is None:
                    far = max(far, _farthest(array, self.labels[end], piece))
            yield Batch(piece.first, pair[0], pair[1], piece.edge_attr)
        edges = self.edges or 0
        if far[0] >= 64 * max(edges, 1 << 20):
            # As the reader in memory does: arrays as long as the largest id are about to be made, and account numbers
            # or damaged digits would ask for terabytes.
            raise FormatError(
                f"{far[1]}: id {far[0]} is far beyond the {edges} edges; number the nodes 0..N-1 (--map-ids, or "
                "map_ids in Python, does that), or give num_nodes if it is meant"
            )

    def _ids(self, column: Any, end: int, piece: Piece) -> Array:
        array, label, table = column, self.labels[end], self.tables[end]
        if not isinstance(column, np.ndarray):
            array = integers(column, label, piece.path, piece.place, "" if _fractions(column.type) else OFFER)
        known = self.limit(end)
        limit = np.iinfo(np.int64).max if known is None else known
        if array.size and array.dtype.kind in "iu":
            # Seen as unsigned, a negative id is a huge one: one pass finds both faults.
            top = int(array.view(array.dtype.str.replace("i", "u")).max())
            if top >= limit or (array.dtype.kind == "i" and top > np.iinfo(array.dtype).max):
                ids(array, label, piece.path, piece.place)
                if table is None or not table.joined:
                    _refuse(array, limit, label, piece)
        else:
            ids(array, label, piece.path, piece.place)
        if table is not None and table.joined:
            check_ends(array, label, table, int(table.x.shape[0]), piece.path, piece.place)
        return np.require(array, self.dtype, "A")


def split_nodes(nodes: NumNodes, bipartite: bool) -> tuple[int | None, tuple[int | None, int | None] | None]:
    """(number of nodes of one kind, numbers of two kinds): the one that is meant."""
    if bipartite or isinstance(nodes, tuple):
        return None, nodes if isinstance(nodes, tuple) else (None, None)
    return nodes, None


def _fractions(kind: Any) -> bool:
    """Whether a column holds numbers that are not whole, which no mapping takes for ids."""
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def check_rows(rows: int) -> None:
    """Nothing; raises where `rows` is no number of rows."""
    if rows < 1:
        raise OptionError(f"rows must be at least 1, got {rows}")


def regroup(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """The same edges with large batches cut to `rows` and small ones joined; one that fits alone is not copied."""
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
        some = slice(lo, lo + rows)
        attr = None if batch.edge_attr is None else batch.edge_attr[some]
        yield Batch(batch.first + lo, batch.source[some], batch.target[some], attr)


def _joined(parts: list[Batch]) -> Batch:
    if len(parts) == 1:
        return parts[0]
    attr = None if parts[0].edge_attr is None else np.concatenate([part.edge_attr for part in parts])
    source, target = (np.concatenate([getattr(part, end) for part in parts]) for end in ("source", "target"))
    return replace(parts[0], source=source, target=target, edge_attr=attr)


def _refuse(array: Array, limit: int, label: str, piece: Piece) -> None:
    wrong = int(np.flatnonzero(array >= limit)[0])
    where = f"{piece.path}: column {label!r}, {piece.place(wrong)}"
    raise GraphError(f"{where}: ids must be in [0, {limit}), got {int(array[wrong])}")


def _farthest(array: Array, label: str, piece: Piece) -> tuple[int, str]:
    top = int(array.max(initial=0))
    return (top, f"{piece.path}: column {label!r}, {piece.place(int(array.argmax()))}") if top >= _NEAR else (0, "")
