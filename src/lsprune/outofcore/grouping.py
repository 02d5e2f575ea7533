"""Edges on disk grouped by owner: the two-level counting sort of the kernels, with files in the place of memory.

The input is read twice: to count how many edges each bucket of neighbouring owners has, and to deal the edges into
their buckets, each of which has its own place in a file. Then every bucket is sorted by itself. Memory holds one batch,
one counter a bucket and the counters of the buckets being sorted.
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

NAMES = ("indptr", "neighbour", "edge")
Ends = Callable[[], Iterator[tuple[int, Array, Array]]]  # batches of (position of the first edge, owners, neighbours)


@dataclass(frozen=True)
class Counted:
    """What one pass over the edges tells."""

    edges: int  # self-loops included
    slots: int  # those that owners choose among
    largest: int  # the largest id, -1 without edges
    ordered: bool  # by owner already
    undirected: bool  # every edge has its reverse (up to a chance of 2^-64)
    ends: tuple[int, int] = (-1, -1)  # the largest ids of owners and of neighbours
    loops: bool = False  # some edge has the same id at both ends


class Counter:
    """Counts edges as they come by: how many each bucket of owners has, and what `Counted` tells."""

    def __init__(self, runtime: Runtime, *, skip: bool, bipartite: bool = False) -> None:
        self.runtime, self.skip, self.bipartite = runtime, skip, bipartite
        self.counts = np.zeros(1, np.int64)
        self.edges, self.ends, self.last, self.balance, self.ordered = 0, (-1, -1), -1, 0, True
        self.loops = False

    def add(self, owner: Array, neighbour: Array) -> None:
        """Count one batch."""
        if not owner.size:
            return
        self.ends = max(self.ends[0], int(owner.max())), max(self.ends[1], int(neighbour.max()))
        self.loops = self.loops or bool((owner == neighbour).any())
        buckets = (max(self.ends) >> BUCKET_BITS) + 1
        if buckets > self.counts.shape[0]:
            self.counts = np.append(self.counts, np.zeros(2 * buckets - self.counts.shape[0], np.int64))
        self.ordered = self.ordered and self.last <= int(owner[0]) and not bool((owner[1:] < owner[:-1]).any())
        self.last, self.edges = int(owner[-1]), self.edges + owner.shape[0]
        count_chunk(owner, neighbour, 0, owner.shape[0], self.skip, self.counts)
        self.balance += int(self.runtime.module.reverse_balance(neighbour, owner, 0, owner.shape[0]))

    def result(self) -> Counted:
        """Return what was counted."""
        undirected = self.balance % 2**64 == 0 and not self.bipartite
        slots = int(self.counts.sum())
        return Counted(self.edges, slots, max(self.ends), self.ordered, undirected, self.ends, self.loops)


def grouped(
    ends: Ends, counts: Array, edges: int, nodes: int, work: Work, runtime: Runtime, *, skip: bool,
    names: tuple[str, str, str] = NAMES, neighbours: int | None = None,
) -> Owned:  # fmt: skip
    """Return the edges by owner, each owner's in the order they came, as arrays of `work` under these names.

    `nodes` are those that may own an edge, `neighbours` those that may be at its other end (default: the same).
    """
    if not work.has(names[0]):
        _group(ends, counts, edges, nodes, work, runtime, skip, names, nodes if neighbours is None else neighbours)
        work.finish(names[0], True, *names)
    return Owned(*(work.array(name) for name in names))


def _group(
    ends: Ends, counts: Array, edges: int, nodes: int, work: Work, runtime: Runtime, skip: bool,
    names: tuple[str, str, str], neighbours: int,
) -> None:  # fmt: skip
    buckets = ((nodes - 1) >> BUCKET_BITS) + 1 if nodes else 0
    counts = np.append(counts[:buckets], np.zeros(max(buckets - counts.shape[0], 0), np.int64))
    borders = np.append(0, np.cumsum(counts))
    slots = int(borders[-1])
    kind, place = (np.int32 if count < 2**31 else np.int64 for count in (max(nodes, neighbours), edges))
    dealt = [runtime.zeros(slots, dtype) for dtype in (np.uint16, kind, place)]
    _deal(ends, borders[:-1].copy(), dealt, runtime, skip)
    indptr = work.create(names[0], nodes + 1, np.int64)
    neighbour, edge = work.create(names[1], slots, kind), work.create(names[2], slots, place)

    def sort(b: int, _: int) -> None:
        sort_bucket(b << BUCKET_BITS, borders[b], borders[b + 1], *dealt, indptr, neighbour, edge)

    runtime.spread(buckets, sort, 1)


def _deal(ends: Ends, cursor: Array, dealt: list[Array], runtime: Runtime, skip: bool) -> None:
    """Write every edge to its bucket; the threads' chunks of a batch have places of their own, fixed beforehand."""
    for first, owner, neighbour in ends():
        chunks = pool.spans(owner.shape[0], -(-owner.shape[0] // runtime.threads) or 1)
        counts = np.zeros((len(chunks), cursor.shape[0]), np.int64)
        pool.run(
            (_count(owner, neighbour, lo, hi, skip, counts[i]) for i, (lo, hi) in enumerate(chunks)), runtime.threads
        )
        starts = cursor + np.cumsum(counts, axis=0) - counts
        jobs = (_place(owner, neighbour, lo, hi, first, skip, starts[i], dealt) for i, (lo, hi) in enumerate(chunks))
        pool.run(jobs, runtime.threads)
        cursor += counts.sum(axis=0)


def _count(owner: Array, neighbour: Array, lo: int, hi: int, skip: bool, counts: Array) -> pool.Job:
    return lambda: count_chunk(owner, neighbour, lo, hi, skip, counts)


def _place(
    owner: Array, neighbour: Array, lo: int, hi: int, first: int, skip: bool, starts: Array, dealt: list[Array]
) -> pool.Job:
    return lambda: deal_chunk(owner, neighbour, lo, hi, first, skip, starts, *dealt)
