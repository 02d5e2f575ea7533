"""Group edges on disk by owner: the two-level counting sort of the kernels, with files in place of memory.

The input is read twice: once to count the edges of each bucket of adjacent owners, and once to write every edge to its
bucket, which has a fixed range of a file. Then every bucket is sorted by itself. Memory holds one batch, one counter
for each bucket, and the counters of the buckets that are being sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Owned
from lsprune.kernels import Runtime
from lsprune.kernels import threads as pool
from lsprune.kernels.cpu.grouping import BUCKET_BITS, count_chunk, deal_chunk, sort_bucket
from lsprune.outofcore.work_folder import Work

OWNED_ARRAYS = ("indptr", "neighbour", "edge")  # the fields of `Owned`; the first is also the name of the stage
ReadEnds = Callable[[], Iterator[tuple[int, Array, Array]]]  # batches of (position of the first, owners, neighbours)


@dataclass(frozen=True)
class EdgeCounts:
    """What one pass over the edges counts."""

    edges: int  # self-loops included
    slots: int  # edges that owners choose among
    largest: int  # the largest id; -1 without edges
    ordered: bool  # sorted by owner
    undirected: bool  # every edge has its reverse (wrong with probability 2^-64)
    largest_of_ends: tuple[int, int] = (-1, -1)  # the largest id of an owner, and of a neighbour
    has_loops: bool = False  # an edge has the same id at both ends


class EdgeCounter:
    """Count edges batch by batch: those of each bucket of owners, and the fields of `EdgeCounts`."""

    def __init__(self, runtime: Runtime, *, skip_loops: bool, bipartite: bool = False) -> None:
        self.runtime, self.skip_loops, self.bipartite = runtime, skip_loops, bipartite
        self.buckets = np.zeros(1, np.int64)
        self.edges, self.largest_of_ends, self.last_owner = 0, (-1, -1), -1
        self.balance, self.ordered, self.has_loops = 0, True, False

    def add(self, owner: Array, neighbour: Array) -> None:
        """Count a batch."""
        if not owner.size:
            return
        largest = self.largest_of_ends
        self.largest_of_ends = max(largest[0], int(owner.max())), max(largest[1], int(neighbour.max()))
        self.has_loops = self.has_loops or bool((owner == neighbour).any())
        buckets = (max(self.largest_of_ends) >> BUCKET_BITS) + 1
        if buckets > self.buckets.shape[0]:
            self.buckets = np.append(self.buckets, np.zeros(2 * buckets - self.buckets.shape[0], np.int64))
        self.ordered = self.ordered and self.last_owner <= int(owner[0]) and not bool((owner[1:] < owner[:-1]).any())
        self.last_owner, self.edges = int(owner[-1]), self.edges + owner.shape[0]
        count_chunk(owner, neighbour, 0, owner.shape[0], self.skip_loops, self.buckets)
        self.balance += int(self.runtime.module.reverse_balance(neighbour, owner, 0, owner.shape[0]))

    def result(self) -> EdgeCounts:
        """Return the counts of all batches."""
        undirected = self.balance % 2**64 == 0 and not self.bipartite
        slots, largest = int(self.buckets.sum()), max(self.largest_of_ends)
        ends, loops = self.largest_of_ends, self.has_loops
        return EdgeCounts(self.edges, slots, largest, self.ordered, undirected, ends, loops)


@dataclass(frozen=True, eq=False)
class BatchedEdges:
    """Edges to be grouped: how to read them, and what was counted."""

    read: ReadEnds
    buckets: Array  # [buckets] edges of each, as in `EdgeCounter`
    edges: int  # self-loops included
    owners: int  # number of nodes that may own an edge
    neighbours: int  # number of nodes that may be a neighbour
    skip_loops: bool = False


def group_on_disk(
    edges: BatchedEdges, work: Work, runtime: Runtime, names: tuple[str, str, str] = OWNED_ARRAYS
) -> Owned:
    """Return the edges by owner, those of an owner in their order of input, as arrays of `work` under these names."""
    if not work.has(names[0]):
        _group(edges, work, runtime, names)
        work.finish(names[0], True, *names)
    return Owned(*(work.array(name) for name in names))


def _group(edges: BatchedEdges, work: Work, runtime: Runtime, names: tuple[str, str, str]) -> None:
    buckets = ((edges.owners - 1) >> BUCKET_BITS) + 1 if edges.owners else 0
    counts = np.append(edges.buckets[:buckets], np.zeros(max(buckets - edges.buckets.shape[0], 0), np.int64))
    borders = np.append(0, np.cumsum(counts))
    slots = int(borders[-1])
    id_type, position_type = (
        np.int32 if count < 2**31 else np.int64 for count in (max(edges.owners, edges.neighbours), edges.edges)
    )
    bucketed = [runtime.zeros(slots, dtype) for dtype in (np.uint16, id_type, position_type)]
    _fill_buckets(edges, borders[:-1].copy(), bucketed, runtime)
    indptr = work.create(names[0], edges.owners + 1, np.int64)
    neighbour, edge = work.create(names[1], slots, id_type), work.create(names[2], slots, position_type)

    def sort(bucket: int, _: int) -> None:
        first, last = borders[bucket], borders[bucket + 1]
        sort_bucket(bucket << BUCKET_BITS, first, last, *bucketed, indptr, neighbour, edge)

    runtime.spread(buckets, sort, 1)


def _fill_buckets(edges: BatchedEdges, cursor: Array, bucketed: list[Array], runtime: Runtime) -> None:
    """Write every edge to its bucket. Each thread's chunk of a batch has its own range, fixed before the threads run.

    Args:
        cursor: `[buckets]` the next free slot of each. bucketed: owners within their bucket, neighbours, positions.
    """
    skip = edges.skip_loops
    for first, owner, neighbour in edges.read():
        chunks = pool.spans(owner.shape[0], -(-owner.shape[0] // runtime.threads) or 1)
        counts = np.zeros((len(chunks), cursor.shape[0]), np.int64)
        jobs = (_count(owner, neighbour, lo, hi, skip, counts[i]) for i, (lo, hi) in enumerate(chunks))
        pool.run(jobs, runtime.threads)
        starts = cursor + np.cumsum(counts, axis=0) - counts
        jobs = (_place(owner, neighbour, lo, hi, first, skip, starts[i], bucketed) for i, (lo, hi) in enumerate(chunks))
        pool.run(jobs, runtime.threads)
        cursor += counts.sum(axis=0)


def _count(owner: Array, neighbour: Array, lo: int, hi: int, skip: bool, counts: Array) -> pool.Job:
    return lambda: count_chunk(owner, neighbour, lo, hi, skip, counts)


def _place(
    owner: Array, neighbour: Array, lo: int, hi: int, first: int, skip: bool, starts: Array, bucketed: list[Array]
) -> pool.Job:
    return lambda: deal_chunk(owner, neighbour, lo, hi, first, skip, starts, *bucketed)
