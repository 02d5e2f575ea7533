"""Numbers that add up over the blocks of a table: computed where the rows are, added on the driver. All are whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lsprune.attributes import DenseRows
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.kernels import Runtime, not_finite
from lsprune.spark.frames import Values, column, numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 1 << 15  # rows that a task looks at together


@dataclass(frozen=True)
class Attributes:
    """Totals `[size]` int64 over the attributes of a table.

    `work(block, totals)` adds those of a block, float32 `[n, d]`, and gives the first row that is not finite, or -1.
    """

    values: Values
    places: tuple[str, ...]  # columns that say where a bad row is
    size: int
    work: Callable[[Array, Array], int]
    largest: bool = False  # totals are maxima instead of sums

    def of(self, frame: DataFrame) -> Array:
        """The totals of the whole table; GraphError for an attribute that is not finite."""
        names = dict.fromkeys((*self.places, *self.values.columns))
        found = frame.select(*map(column, names)).mapInArrow(self.run, "totals binary, bad string").toArrow()
        for bad in found.column("bad").to_pylist():
            if bad:
                raise GraphError(bad)
        parts = [np.frombuffer(one, np.int64) for one in found.column("totals").to_pylist()]
        return reduce(self._added, parts, np.zeros(self.size, np.int64))

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for each task."""
        totals, bad = np.zeros(self.size, np.int64), None
        for table in gathered(batches, ROWS):
            block, here = self._block(table), np.zeros(self.size, np.int64)
            row = self.work(block, here)
            if row >= 0:
                bad = self._said(table, block[row], row)
                break
            totals = self._added(totals, here)
        yield pa.RecordBatch.from_pydict(
            {"totals": pa.array([totals.tobytes()], pa.binary()), "bad": pa.array([bad], pa.string())}
        )

    def _added(self, one: Array, other: Array) -> Array:
        return np.maximum(one, other) if self.largest else one + other

    def _block(self, table: pa.Table) -> Array:
        read = self.values.read(table)
        return DenseRows(self.values.name, read.reshape(read.shape[0], -1)).block(0, read.shape[0])

    def _said(self, table: pa.Table, values: Array, row: int) -> str:
        where = ", ".join(f"{name} {numbers(table.column(name))[row]}" for name in self.places)
        return str(not_finite(self.values.name, values, row)).rpartition(" in row")[0] + f" at {where}"


def gathered(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Tables of at least `rows` rows each, but for the last: what the batches of the session are does not matter."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            held += batch.num_rows
        if held >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, held = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def top(values: Values, places: Sequence[str], frame: DataFrame) -> int:
    """What `raw_top` says of all attributes; GraphError for one that is not finite."""
    return int(Attributes(values, tuple(places), 1, _top, largest=True).of(frame)[0])


def _top(block: Array, totals: Array) -> int:
    totals[0] = int(Runtime().module.raw_top(block))
    if totals[0] < 255 << 23:
        return -1
    return int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
