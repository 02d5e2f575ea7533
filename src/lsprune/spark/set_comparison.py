"""Count the common neighbours of the two ends of each edge in Spark, exactly.

Sets of neighbours are cut into pieces. Of the two ends of an edge, the pieces of the one with fewer neighbours travel
to the one with more, so that what is shuffled grows with the smaller degree of each edge. A task holds the whole set of
one node (8 bytes for each neighbour), and reads the pieces that are looked up in it one batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from lsprune.graph import Array
from lsprune.kernels import Runtime
from lsprune.spark.columns import column, to_numpy
from lsprune.spark.edge_ends import NEIGHBOUR_ID, OWNER_ID, EdgeEnds
from lsprune.spark.packed_rows import unpack_lists
from lsprune.spark.tasks import EDGE_ROWS, ID_COLUMN
from lsprune.spark.totals import gather_batches
from lsprune.weights.comparison import SetComparison

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOW, HIGH, SMALL, LARGE, SIZE, PIECE, MEMBERS, SIZES, ASKS = (
    f"_lsprune_{name}" for name in ("low", "high", "small", "large", "size", "piece", "members", "sizes", "asks")
)
PIECE_MEMBERS = 1 << 10  # members of a piece of a set
PIECES = 1 << 12  # that a task looks up at a time


def compare_sets(ends: EdgeEnds, frame: DataFrame, comparison: SetComparison, name: str) -> DataFrame:
    """Return `frame`, the edges and more columns, with a column `name`: the logarithms of the weights."""
    sets = neighbour_sets(ends).persist()
    asked = _questions(_pairs(ends), sets)
    columns = (ID_COLUMN, ASKS, SMALL, PIECE, SIZES, MEMBERS)
    holders = sets.select(ID_COLUMN, F.lit(False).alias(ASKS), F.col(ID_COLUMN).alias(SMALL), PIECE,
                          F.lit(0).cast("long").alias(SIZES), MEMBERS)  # fmt: skip
    rows = holders.unionByName(asked.select(*columns)).repartition(ends.partitions, ID_COLUMN)
    rows = rows.sortWithinPartitions(ID_COLUMN, ASKS, SMALL, PIECE)
    logs = rows.mapInArrow(_Count(comparison, name).run, f"{SMALL} long, {LARGE} long, {name} long")
    logs = logs.select(F.least(SMALL, LARGE).alias(LOW), F.greatest(SMALL, LARGE).alias(HIGH), name)
    owner, neighbour = column(ends.owner).cast("long"), column(ends.neighbour).cast("long")
    same = (F.least(owner, neighbour) == F.col(LOW)) & (F.greatest(owner, neighbour) == F.col(HIGH))
    return frame.join(logs, same, "inner").drop(LOW, HIGH)


def neighbour_sets(ends: EdgeEnds) -> DataFrame:
    """Return the neighbours of each node and itself, ascending, in numbered pieces, with the size of the whole set."""
    owned = ends.ids(ends.counted)
    alone = ends.ids(ends.edges).select(F.col(NEIGHBOUR_ID).alias(OWNER_ID), NEIGHBOUR_ID).distinct()
    members = owned.unionByName(alone).repartition(ends.partitions, OWNER_ID)
    members = members.sortWithinPartitions(OWNER_ID, NEIGHBOUR_ID)
    return members.mapInArrow(collect_sets, f"{ID_COLUMN} long, {PIECE} long, {SIZE} long, {MEMBERS} binary")


def _pairs(ends: EdgeEnds) -> DataFrame:
    """Return the two ends of each edge, the lower id first; an edge and its reverse once."""
    low, high = F.least(OWNER_ID, NEIGHBOUR_ID), F.greatest(OWNER_ID, NEIGHBOUR_ID)
    return ends.ids(ends.edges).select(low.alias(LOW), high.alias(HIGH)).distinct()


def _questions(pairs: DataFrame, sets: DataFrame) -> DataFrame:
    """Return the pieces of the smaller set of each pair, with the id of the larger one and the sum of their sizes."""
    for end in (LOW, HIGH):
        size = sets.where(F.col(PIECE) == 0).select(ID_COLUMN, F.col(SIZE).alias(f"{end}_size"))
        pairs = pairs.join(size, F.col(end) == F.col(ID_COLUMN), "inner").drop(ID_COLUMN)
    low_size, high_size = F.col(f"{LOW}_size"), F.col(f"{HIGH}_size")
    small = F.when(low_size <= high_size, F.col(LOW)).otherwise(F.col(HIGH))
    large = F.when(low_size <= high_size, F.col(HIGH)).otherwise(F.col(LOW))
    asked = pairs.select(small.alias(SMALL), large.alias(LARGE), (low_size + high_size).alias(SIZES))
    pieces = sets.select(ID_COLUMN, PIECE, MEMBERS)
    asked = asked.join(pieces, F.col(SMALL) == F.col(ID_COLUMN), "inner").drop(ID_COLUMN)
    return asked.withColumnRenamed(LARGE, ID_COLUMN).withColumn(ASKS, F.lit(True))


def collect_sets(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the pieces of the set of each node, from members that are sorted by node."""
    held_id, held = -1, list[Array]()
    for table in gather_batches(batches, EDGE_ROWS):
        node, member = (to_numpy(table.column(name)) for name in (OWNER_ID, NEIGHBOUR_ID))
        starts = np.append(0, np.flatnonzero(node[1:] != node[:-1]) + 1)
        parts: list[tuple[int, Array]] = []
        for here, members in zip(node[starts].tolist(), np.split(member, starts[1:]), strict=True):
            if here != held_id and held:
                parts.append((held_id, np.concatenate(held)))
                held = []
            held_id = here
            held.append(members)
        yield from _pieces(parts)
    if held:
        yield from _pieces([(held_id, np.concatenate(held))])


def _pieces(parts: list[tuple[int, Array]]) -> Iterator[pa.RecordBatch]:
    """Yield rows for the sets of some nodes."""
    rows: list[tuple[int, int, int, bytes]] = []
    for node, members in parts:
        whole = np.unique(np.append(members, node))
        for piece, start in enumerate(range(0, whole.shape[0], PIECE_MEMBERS)):
            rows.append((node, piece, whole.shape[0], whole[start : start + PIECE_MEMBERS].tobytes()))
    for start in range(0, len(rows), PIECES):
        columns = zip(*rows[start : start + PIECES], strict=True)
        types = {ID_COLUMN: pa.int64(), PIECE: pa.int64(), SIZE: pa.int64(), MEMBERS: pa.binary()}
        arrays = (pa.array(values, kind) for values, kind in zip(columns, types.values(), strict=True))
        yield pa.RecordBatch.from_pydict(dict(zip(types, arrays, strict=True)))


@dataclass(frozen=True)
class _Count:
    """Count the members of pieces that are in the set of the node they were sent to.

    The rows of a node are side by side: first the pieces of its own set, then those that ask, by the node they are of.
    """

    comparison: SetComparison
    name: str

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        answers = _Answers()
        for table in gather_batches(batches, PIECES):
            answers.add(table)
            yield self._logs(*answers.complete())
        answers.finish()
        yield self._logs(*answers.complete())

    def _logs(self, small: Array, large: Array, common: Array, sizes: Array) -> pa.RecordBatch:
        logs = self.comparison.logs(common, sizes - common, Runtime())
        columns = {SMALL: small, LARGE: large, self.name: logs}
        return pa.RecordBatch.from_pydict({name: pa.array(values, pa.int64()) for name, values in columns.items()})


class _Answers:
    """What is known of the pairs so far; only the last node and the last pair may get more rows."""

    def __init__(self) -> None:
        self.node, self.members = -1, np.empty(0, np.int64)  # the last node and its set so far
        self.pairs = np.empty((0, 4), np.int64)  # small, large, common, sizes
        self.ready = 0  # of the pairs

    def add(self, table: pa.Table) -> None:
        """Look up the pieces of a table that ask."""
        node, small, sizes = (to_numpy(table.column(name)) for name in (ID_COLUMN, SMALL, SIZES))
        asks = to_numpy(table.column(ASKS)).astype(bool)
        begins, numbers = unpack_lists(table.column(MEMBERS))
        common = self._common(node, asks, begins, numbers)
        rows = np.stack([small[asks], node[asks], common, sizes[asks]], axis=1)
        rows = np.concatenate([self.pairs, rows])
        starts = np.flatnonzero(np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1)))[: rows.shape[0]]
        if rows.shape[0]:
            total = np.add.reduceat(rows[:, 2], starts)
            rows = rows[starts]
            rows[:, 2] = total
        self.pairs, self.ready = rows, max(rows.shape[0] - 1, 0)

    def _common(self, node: Array, asks: Array, begins: Array, numbers: Array) -> Array:
        """Return how many members of each asking piece are in the set of its node."""
        starts = np.append(0, np.flatnonzero(node[1:] != node[:-1]) + 1)
        stops = np.append(starts[1:], node.shape[0])
        sets: list[Array] = []
        for lo, hi in zip(starts.tolist(), stops.tolist(), strict=True):
            own = lo + int(np.argmax(asks[lo:hi])) if asks[lo:hi].any() else hi
            if node[lo] != self.node:
                self.node, self.members = int(node[lo]), np.empty(0, np.int64)
            self.members = np.concatenate([self.members, numbers[begins[lo] : begins[own]]])
            sets.append(self.members)
        asking = np.flatnonzero(asks)
        holder = np.searchsorted(starts, asking, side="right") - 1
        pieces = [numbers[begins[i] : begins[i + 1]] for i in asking.tolist()]
        return _count_common(sets, pieces, holder)

    def complete(self) -> tuple[Array, Array, Array, Array]:
        """Return the pairs that get no more rows, and forget them."""
        done, self.pairs = self.pairs[: self.ready], self.pairs[self.ready :]
        self.ready = 0
        return done[:, 0], done[:, 1], done[:, 2], done[:, 3]

    def finish(self) -> None:
        """Say that there are no more rows."""
        self.ready = self.pairs.shape[0]


def _count_common(sets: list[Array], pieces: list[Array], holder: Array) -> Array:
    """Return the number of common members of each piece and the set of its holder; holders ascend."""
    count, everything = len(sets), [*sets, *pieces]
    begins = np.cumsum([0, *(part.shape[0] for part in everything)], dtype=np.int64)
    indptr = np.zeros(len(everything) + 1, np.int64)
    indptr[1 : count + 1] = np.searchsorted(holder, np.arange(count), side="right")
    indptr[count + 1 :] = indptr[count]
    common = np.zeros(len(pieces), np.int64)
    neighbour = np.arange(count, len(everything))
    members = np.concatenate(everything) if everything else np.empty(0, np.int64)
    Runtime().module.count_common(indptr, neighbour, begins, members, 0, count, common)
    return common
