"""Compare rows of the two ends of each edge in Spark; nodes make their rows in rounds of sums over neighbours.

In a round every edge is joined with the message of its neighbour and shuffled to its owner, which adds the messages up
in a task that reads them one batch at a time. The tables of nodes are cached: each is read several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.spark.columns import AttributeColumns, column, to_numpy
from lsprune.spark.edge_ends import NEIGHBOUR_ID, OWNER_ID, EdgeEnds
from lsprune.spark.packed_rows import pack_rows, unpack_rows
from lsprune.spark.tasks import ID_COLUMN, NEIGHBOUR_COLUMN, NODE_ROWS, OWNER_COLUMN
from lsprune.spark.totals import gather_batches
from lsprune.weights.comparison import RowComparison

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KNOWN, MESSAGE, SUMS, COUNT, ROW = (f"_lsprune_{name}" for name in ("known", "message", "sums", "count", "row"))
MESSAGE_ROWS = 1 << 13  # messages that a task adds up at a time
COMPARED_ROWS = 1 << 14  # edges that a task compares at a time
_NO_IDS = np.empty(0, np.int64)


def compare_rows(ends: EdgeEnds, frame: DataFrame, comparison: RowComparison, name: str) -> DataFrame:
    """Return `frame`, the edges and more columns, with a column `name`: the logarithms of the weights."""
    rows, schema = node_rows(ends, comparison), _schema(frame, name)
    for end, packed in ((ends.neighbour, NEIGHBOUR_COLUMN), (ends.owner, OWNER_COLUMN)):
        frame = ends.join(frame, rows.withColumnRenamed(ROW, packed), end)
    return frame.mapInArrow(_Compare(comparison, name).run, schema)


def _schema(frame: DataFrame, name: str) -> Any:
    from pyspark.sql.types import LongType, StructType

    return StructType(list(frame.schema.fields)).add(name, LongType())


def node_rows(ends: EdgeEnds, comparison: RowComparison) -> DataFrame:
    """Return the rows to compare, packed, by the ids of the nodes."""
    nodes = ends.nodes
    assert nodes is not None and nodes.facts.attributes is not None
    ids = column(nodes.id_columns[0]).cast("long").alias(ID_COLUMN)
    x = nodes.frame.select(ids, *map(column, nodes.facts.attributes.columns))
    known = x.mapInArrow(_Start(comparison, nodes.facts.attributes).run, _KNOWN_SCHEMA)
    for _ in range(comparison.rounds):
        known = known.persist()
        sums = _sums(ends, known, comparison)
        both = known.join(sums, F.col(ID_COLUMN) == F.col(OWNER_ID), "left").drop(OWNER_ID)
        both = both.coalesce(ends.partitions)  # adaptive execution leaves the partitions of what is cached as they are
        known = both.mapInArrow(_Update(comparison).run, _KNOWN_SCHEMA)
    return known.mapInArrow(_Finish(comparison).run, f"{ID_COLUMN} long, {ROW} binary").persist()


def _sums(ends: EdgeEnds, known: DataFrame, comparison: RowComparison) -> DataFrame:
    """Return the sums of the messages of the neighbours of each owner, and their number."""
    messages = known.mapInArrow(_Send(comparison).run, f"{ID_COLUMN} long, {MESSAGE} binary")
    sent = ends.join(ends.ids(ends.counted), messages, NEIGHBOUR_ID)
    sent = sent.select(OWNER_ID, MESSAGE).repartition(ends.partitions, OWNER_ID).sortWithinPartitions(OWNER_ID)
    return sent.mapInArrow(_Sum(comparison.message_type).run, f"{OWNER_ID} long, {SUMS} binary, {COUNT} long")


_KNOWN_SCHEMA = f"{ID_COLUMN} long, {KNOWN} binary"


@dataclass(frozen=True)
class _Start:
    """Return what nodes know from their attributes."""

    comparison: RowComparison
    attributes: AttributeColumns

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_batches(batches, NODE_ROWS):
            x, count = self.attributes.read(table), table.num_rows
            graph = Graph(source=_NO_IDS, target=_NO_IDS, num_sources=count, num_targets=count, x_source=x, x_target=x)
            yield _batch(table, {KNOWN: pack_rows(self.comparison.start(graph, Runtime()))})


@dataclass(frozen=True)
class _Send:
    """Return the messages of nodes."""

    comparison: RowComparison

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_batches(batches, NODE_ROWS):
            message = self.comparison.message(unpack_rows(table.column(KNOWN), np.int64))
            yield _batch(table, {MESSAGE: pack_rows(message)})


@dataclass(frozen=True)
class _Sum:
    """Add up the messages of each owner. Its rows are side by side, often in several batches."""

    message_type: Any

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: tuple[Array, Array, Array] | None = None
        for table in gather_batches(batches, MESSAGE_ROWS):
            owner, sums, count = self._added(table)
            if held is not None and held[0][0] == owner[0]:
                sums[0] += held[1][0]
                count[0] += held[2][0]
            elif held is not None:
                yield _sums_batch(*held)
            yield _sums_batch(owner[:-1], sums[:-1], count[:-1])
            held = owner[-1:], sums[-1:], count[-1:]
        if held is not None:
            yield _sums_batch(*held)

    def _added(self, table: pa.Table) -> tuple[Array, Array, Array]:
        """Return the owners of a table, the sums of their messages and their number."""
        owner = to_numpy(table.column(OWNER_ID))
        starts = np.append(0, np.flatnonzero(owner[1:] != owner[:-1]) + 1)
        messages = unpack_rows(table.column(MESSAGE), self.message_type)
        sums = np.add.reduceat(messages, starts, axis=0, dtype=np.int64)
        return owner[starts], sums, np.diff(np.append(starts, owner.shape[0]))


@dataclass(frozen=True)
class _Update:
    """Return what nodes know after a round. A node that owns no edge has no sums."""

    comparison: RowComparison

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_batches(batches, NODE_ROWS):
            known = unpack_rows(table.column(KNOWN), np.int64)
            sums = self.comparison.message(known).astype(np.int64)
            some = table.column(SUMS).is_valid().to_numpy()
            if some.any():
                sums[some] += unpack_rows(table.column(SUMS), np.int64)
            count = to_numpy(table.column(COUNT).fill_null(0))
            yield _batch(table, {KNOWN: pack_rows(self.comparison.update(known, sums, count, Runtime()))})


@dataclass(frozen=True)
class _Finish:
    """Return the rows to compare."""

    comparison: RowComparison

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_batches(batches, NODE_ROWS):
            rows = self.comparison.finish(unpack_rows(table.column(KNOWN), np.int64), Runtime())
            yield _batch(table, {ROW: pack_rows(rows)})


@dataclass(frozen=True)
class _Compare:
    """Add a column of logarithms to edges that come with the rows of their ends."""

    comparison: RowComparison
    name: str

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gather_batches(batches, COMPARED_ROWS):
            first, second = (
                unpack_rows(table.column(end), self.comparison.row_type) for end in (OWNER_COLUMN, NEIGHBOUR_COLUMN)
            )
            logs = pa.array(self.comparison.logs(first, second, Runtime()), pa.int64())
            edges = table.drop_columns([OWNER_COLUMN, NEIGHBOUR_COLUMN]).append_column(self.name, logs)
            yield from edges.combine_chunks().to_batches()


def _batch(table: pa.Table, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """Return columns by the ids of the nodes of a table."""
    return pa.RecordBatch.from_pydict({ID_COLUMN: pa.array(to_numpy(table.column(ID_COLUMN))), **columns})


def _sums_batch(owner: Array, sums: Array, count: Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {OWNER_ID: pa.array(owner), SUMS: pack_rows(sums), COUNT: pa.array(count, pa.int64())}
    )
