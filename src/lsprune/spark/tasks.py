"""What runs where the rows are: keys of nodes, and selection from rows that come sorted by owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lsprune.graph import Array
from lsprune.kernels import Runtime
from lsprune.outofcore.partial_selection import EdgeRows, Selector, node_keys
from lsprune.pruners import PerOwner
from lsprune.spark.budget import Budget
from lsprune.spark.folds import gathered
from lsprune.spark.frames import Values, numbers

NODES, EDGES = 1 << 14, 1 << 17  # rows that a task takes together
# Columns that are added to the tables. Keys and attributes travel as bytes: a column of arrays costs Spark a step for
# each entry, and a column for each number eight bytes.
ID, DEGREE, SHARE, OF_NEIGHBOUR, OF_OWNER = (
    f"_lsprune_{name}" for name in ("id", "degree", "share", "neighbour", "owner")
)


@dataclass(frozen=True)
class Packed:
    """Attribute rows as bytes: float32, or one int64 for a category."""

    values: Values
    category: bool

    def bytes_of(self, table: pa.Table) -> pa.Array:
        """The rows of a table, packed."""
        read = self.values.read(table)
        flat = read.reshape(read.shape[0], -1)
        with np.errstate(over="ignore"):
            return packed(flat.astype(np.int64 if self.category else np.float32))

    def read(self, table: pa.Table, name: str) -> Array:
        """Those rows again, `[n, d]`."""
        raw, count = _bytes(table.column(name)), table.num_rows
        return raw.view(np.int64 if self.category else np.float32).reshape(count, -1)


def packed(rows: Array) -> pa.Array:
    """Each row of an array as bytes."""
    rows = np.ascontiguousarray(rows)
    count, width = rows.shape[0], rows.shape[1] * rows.itemsize
    offsets = np.arange(count + 1, dtype=np.int64) * width
    if offsets[-1] >= 1 << 31:
        return pa.array([row.tobytes() for row in rows], pa.binary())
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(rows.reshape(-1).view(np.uint8))]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def _bytes(column: pa.ChunkedArray) -> Array:
    """All bytes of a column of byte strings, one after the other."""
    parts = []
    for chunk in column.chunks:
        kind = np.int64 if pa.types.is_large_binary(chunk.type) else np.int32
        offsets = np.frombuffer(chunk.buffers()[1], kind)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = chunk.buffers()[2]
        if len(chunk) and data is not None:
            parts.append(np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]])
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def _keys(column: pa.ChunkedArray, steps: int) -> Array:
    """Packed keys `[n, steps]`; those of a block of nodes are int32 if they fit, so that widths may differ."""
    raw, count = _bytes(column), len(column)
    if raw.shape[0] == 4 * steps * count:
        return raw.view(np.int32).reshape(count, steps)
    if raw.shape[0] == 8 * steps * count:
        return raw.view(np.int64).reshape(count, steps)
    ends = np.cumsum([len(one) for one in column.to_pylist()])
    kinds = np.diff(ends, prepend=0) // steps
    rows = (raw[end - kind * steps : end].view(f"i{kind}") for end, kind in zip(ends, kinds, strict=True))
    return np.array([row.astype(np.int64) for row in rows])


@dataclass(frozen=True)
class Describe:
    """What edges must know of their neighbour (or owner), by its id: ready keys, or the attributes themselves."""

    pruner: PerOwner
    rows: Packed | None
    degree: bool
    steps: int  # of the keys; 0: the attributes themselves

    @property
    def schema(self) -> str:
        """The columns that come out."""
        bytes_too = f", {OF_NEIGHBOUR} binary" if self.steps or self.rows else ""
        return f"{ID} long{bytes_too}" + f", {DEGREE} long" * (self.degree and not self.steps)

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches, NODES):
            ids = numbers(table.column(ID)).astype(np.int64)
            out = {ID: pa.array(ids)}
            degree = numbers(table.column(DEGREE)).astype(np.int64) if self.degree else None
            if self.steps:
                x = None if self.rows is None else self.rows.values.read(table)
                keys = node_keys(self.pruner, ids, x, 0, self.steps, self.steps, Runtime(), degree=degree)
                out[OF_NEIGHBOUR] = packed(keys)
            else:
                out |= {} if self.rows is None else {OF_NEIGHBOUR: self.rows.bytes_of(table)}
                out |= {} if degree is None else {DEGREE: pa.array(degree)}
            yield pa.RecordBatch.from_pydict(out)


@dataclass(frozen=True)
class Select:
    """The kept rows out of rows that are sorted by owner; an owner is never in two tasks, but often in many batches."""

    pruner: PerOwner
    budget: Budget
    owner: str
    neighbour: str
    out: tuple[str, ...]  # columns that come out
    steps: int = 0  # of ready keys
    x_owner: Packed | None = None
    x_neighbour: Packed | None = None
    edge_attr: Values | None = None
    degree: bool = False
    share: bool = False
    rows: int = EDGES  # taken together
    bipartite: bool = False

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        selector, held = Selector(self.pruner, Runtime(), self.bipartite), None
        for fresh in gathered(batches, self.rows):
            table = fresh if held is None or not held.num_rows else pa.concat_tables([held, fresh])
            kept, still = selector.split(self._rows(table))
            held = table.filter(pa.array(still))
            yield from table.select(self.out).filter(pa.array(kept)).combine_chunks().to_batches()
        if held is not None:  # what an owner holds when no row is left is what it keeps
            yield from held.select(self.out).combine_chunks().to_batches()

    def _rows(self, table: pa.Table) -> EdgeRows:
        owner, neighbour = (numbers(table.column(name)).astype(np.int64) for name in (self.owner, self.neighbour))
        found: dict[str, Any] = {"owner": owner, "neighbour": neighbour, "quota": self.budget.of(owner)}
        if self.share:
            found["share"] = numbers(table.column(SHARE))
        if self.steps:
            return EdgeRows(**found, keys=_keys(table.column(OF_NEIGHBOUR), self.steps))
        if self.x_owner is not None:
            found["x_owner"] = self.x_owner.read(table, OF_OWNER)
        if self.x_neighbour is not None:
            found["x_neighbour"] = self.x_neighbour.read(table, OF_NEIGHBOUR)
        if self.edge_attr is not None:
            found["edge_attr"] = self.edge_attr.read(table)
        if self.degree:
            found["degree"] = numbers(table.column(DEGREE))
        return EdgeRows(**found)
