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
from lsprune.spark.packed_rows import pack_lists, unpack_lists
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
    waiting: list[tuple[Array, Array]] = []  # of the last node, which may have more
    for table in gather_batches(batches, EDGE_ROWS):
        node, member = (to_numpy(table.column(name)) for name in (OWNER_ID, NEIGHBOUR_ID))
        last = int(np.searchsorted(node, node[-1]))  # where the last node begins
        if last or (waiting and waiting[0][0][0] != node[0]):
            yield from _pieces([*waiting, (node[:last], member[:last])])
            waiting = []
        waiting.append((node[last:], member[last:]))
    if waiting:
        yield from _pieces(waiting)


def _pieces(parts: list[tuple[Array, Array]]) -> Iterator[pa.RecordBatch]:
    """Yield rows for the sets of some nodes: each member once, and the node itself."""
    node, member = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    ids = np.unique(node)
    node, member = np.append(node, ids), np.append(member, ids)
    order = np.lexsort((member, node))
    node, member = node[order], member[order]
    new = np.append(True, (node[1:] != node[:-1]) | (member[1:] != member[:-1]))[: node.shape[0]]
    node, member = node[new], member[new]
    starts = np.searchsorted(node, ids)
    sizes = np.diff(np.append(starts, node.shape[0]))
    place = np.arange(node.shape[0]) - np.repeat(starts, sizes)  # among the members of the node
    begins = np.flatnonzero(place % PIECE_MEMBERS == 0)
    columns = {
        ID_COLUMN: node[begins], PIECE: place[begins] // PIECE_MEMBERS, SIZE: np.repeat(sizes, sizes)[begins],
    }  # fmt: skip
    for lo in range(0, begins.shape[0], PIECES):
        ends = np.append(begins, node.shape[0])[lo : lo + PIECES + 1]
        some = {name: pa.array(values[lo : lo + PIECES], pa.int64()) for name, values in columns.items()}
        yield pa.RecordBatch.from_pydict({**some, MEMBERS: pack_lists(ends - ends[0], member[ends[0] : ends[-1]])})


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
        common = self._common(node, asks, *unpack_lists(table.column(MEMBERS)))
        rows = np.concatenate([self.pairs, np.stack([small[asks], node[asks], common, sizes[asks]], axis=1)])
        new = np.append(True, (rows[1:, :2] != rows[:-1, :2]).any(axis=1))[: rows.shape[0]]
        starts = np.flatnonzero(new)
        self.pairs = rows[starts]
        if starts.size:
            self.pairs[:, 2] = np.add.reduceat(rows[:, 2], starts)
        self.ready = max(starts.size - 1, 0)

    def _common(self, node: Array, asks: Array, begins: Array, members: Array) -> Array:
        """Return how many members of each asking piece are in the set of its node.

        A set is one after the other in `members`: first the one that is held, if its node goes on, then for each node
        its own pieces together, and each piece that asks by itself.
        """
        goes_on = bool(node[0] == self.node)
        held = self.members if goes_on else self.members[:0]
        first = np.append(True, node[1:] != node[:-1])  # rows of each node
        opens = asks | first
        opens[0] &= asks[0] or not goes_on
        set_of = np.cumsum(opens) - 1 + goes_on  # of each row
        bounds = np.concatenate([[0] if goes_on else [], begins[:-1][opens] + held.shape[0]]).astype(np.int64)
        bounds = np.append(bounds, members.shape[0] + held.shape[0])
        members = np.concatenate([held, members])
        holders = set_of[first]
        holders[0] = 0
        slots = np.bincount(holders[(np.cumsum(first) - 1)[asks]], minlength=bounds.shape[0] - 1)
        common = np.zeros(int(asks.sum()), np.int64)
        indptr = np.append(0, np.cumsum(slots))
        Runtime().module.count_common(indptr, set_of[asks], bounds, members, 0, slots.shape[0], common)
        self.node, self.members = int(node[-1]), members[bounds[holders[-1]] : bounds[holders[-1] + 1]].copy()
        return common

    def complete(self) -> tuple[Array, Array, Array, Array]:
        """Return the pairs that get no more rows, and forget them."""
        done, self.pairs = self.pairs[: self.ready], self.pairs[self.ready :]
        self.ready = 0
        return done[:, 0], done[:, 1], done[:, 2], done[:, 3]

    def finish(self) -> None:
        """Say that there are no more rows."""
        self.ready = self.pairs.shape[0]
