"""Totals over the attributes of a table: computed where the rows are, added up on the driver. All are whole numbers."""

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
from lsprune.spark.columns import AttributeColumns, column, to_numpy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TOTALS_ROWS = 1 << 15  # rows that a task adds up at a time
_INFINITY_BITS = 255 << 23  # the bit pattern of infinity in float32; NaN is larger


@dataclass(frozen=True)
class AttributeTotals:
    """Totals `[size]` int64 over the attributes of a table.

    `add(block, totals)` adds a block, float32 `[n, d]`, and returns the first row that is not finite, or -1.
    """

    attributes: AttributeColumns
    id_columns: tuple[str, ...]  # by which an error names a row
    size: int
    add: Callable[[Array, Array], int]
    maximum: bool = False  # totals are maxima instead of sums

    def of(self, frame: DataFrame) -> Array:
        """Return the totals of a table; raise GraphError for an attribute that is not finite."""
        names = dict.fromkeys((*self.id_columns, *self.attributes.columns))
        tasks = frame.select(*map(column, names)).mapInArrow(self.run, "totals binary, error string").toArrow()
        for error in tasks.column("error").to_pylist():
            if error:
                raise GraphError(error)
        parts = [np.frombuffer(part, np.int64) for part in tasks.column("totals").to_pylist()]
        return reduce(self._combine, parts, np.zeros(self.size, np.int64))

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row for each task: its totals, or the message for the first row that is not finite."""
        totals, error = np.zeros(self.size, np.int64), None
        for table in gather_batches(batches, _TOTALS_ROWS):
            block, block_totals = self._block(table), np.zeros(self.size, np.int64)
            row = self.add(block, block_totals)
            if row >= 0:
                error = self._message(table, block[row], row)
                break
            totals = self._combine(totals, block_totals)
        yield pa.RecordBatch.from_pydict(
            {"totals": pa.array([totals.tobytes()], pa.binary()), "error": pa.array([error], pa.string())}
        )

    def _combine(self, first: Array, second: Array) -> Array:
        return np.maximum(first, second) if self.maximum else first + second

    def _block(self, table: pa.Table) -> Array:
        values = self.attributes.read(table)
        return DenseRows(self.attributes.name, values.reshape(values.shape[0], -1)).block(0, values.shape[0])

    def _message(self, table: pa.Table, values: Array, row: int) -> str:
        ids = ", ".join(f"{name} {to_numpy(table.column(name))[row]}" for name in self.id_columns)
        return str(not_finite(self.attributes.name, values, row)).rpartition(" in row")[0] + f" at {ids}"


def gather_batches(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Join batches to tables of at least `rows` rows, except for the last, whatever the batch size of the session."""
    pending: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        if batch.num_rows:
            pending.append(batch)
            count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(pending)
            pending, count = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


def largest_bits(attributes: AttributeColumns, id_columns: Sequence[str], frame: DataFrame) -> int:
    """Return `raw_top` of all attributes: the bit pattern of the largest one; raise GraphError if one is not finite."""
    return int(AttributeTotals(attributes, tuple(id_columns), 1, _add_largest, maximum=True).of(frame)[0])


def _add_largest(block: Array, totals: Array) -> int:
    totals[0] = int(Runtime().module.raw_top(block))
    if totals[0] < _INFINITY_BITS:
        return -1
    return int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
