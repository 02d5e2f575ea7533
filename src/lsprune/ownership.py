"""Which end of an edge is its owner, and edges grouped by owner.

`side="in"`: the target owns an edge and the source is its neighbour. `side="out"`: the other way round.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from lsprune.checks import Array

Side = Literal["in", "out"]
SIDES = ("in", "out")
T = TypeVar("T")


def oriented(side: str, source: T, target: T) -> tuple[T, T]:
    """Return (owner's, neighbour's) from (source's, target's), whatever they are; also the other way round.

    >>> oriented("in", "source", "target"), oriented("out", "source", "target")
    (('target', 'source'), ('source', 'target'))
    """
    return (target, source) if side == "in" else (source, target)


def other_side(side: str) -> str:
    """Return the side on which owners and neighbours are exchanged."""
    return "out" if side == "in" else "in"


@dataclass(frozen=True, eq=False)
class Owned:
    """The edges of a graph grouped by owner, each owner's in the caller's order; a place in here is a *slot*."""

    indptr: Array  # [owners + 1] int64
    neighbour: Array  # [slots]
    edge: Array | None  # [slots] the caller's edge of each slot; None: edge i is slot i
    degree: Array | None = None  # [neighbours] in the whole graph, where this is a part of it
    carried: Array | None = None  # [slots, n] logarithms of weights that were computed from the whole graph

    def bounds(self, lo: int, hi: int) -> tuple[int, int]:
        """Return the first slot of the owners lo..hi and the slot after their last."""
        return int(self.indptr[lo]), int(self.indptr[hi])

    def edges(self, lo: int, hi: int) -> Array:
        """Return the caller's edge ids of the slots lo..hi."""
        return np.arange(lo, hi) if self.edge is None else self.edge[lo:hi]

    def owners(self, lo: int, hi: int) -> Array:
        """Return the owner of each slot of the owners lo..hi."""
        return np.repeat(np.arange(lo, hi), np.diff(self.indptr[lo : hi + 1]))

    def blocks(self, slots: int = 1 << 20) -> Iterator[tuple[int, int]]:
        """Iterate over ranges lo..hi of owners with about `slots` slots each, in order."""
        count, owners = self.neighbour.shape[0], self.indptr.shape[0] - 1
        cuts = np.searchsorted(self.indptr, np.arange(1, max(-(-count // slots), 1)) * slots)
        borders = [0, *cuts.tolist(), owners]
        return ((lo, hi) for lo, hi in itertools.pairwise(borders) if hi > lo)

    def count_neighbours(self, counts: Array) -> Array:
        """Add to counts[node] the number of slots in which each node is the neighbour; return `counts`."""
        if self.degree is not None:
            counts += self.degree
            return counts
        for lo in range(0, self.neighbour.shape[0], 1 << 20):
            np.add.at(counts, self.neighbour[lo : lo + (1 << 20)], 1)
        return counts


@dataclass(frozen=True, eq=False)
class Grouped:
    """Edges that are grouped by owner already, as those of a graph on disk are."""

    owned: Owned
    side: Side
    loops: bool  # self-loops are among them
    edges: int  # number of edges, self-loops included
