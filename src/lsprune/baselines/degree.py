"""By the degree of the neighbour: the least connected first, or the hubs first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners import LocalPruner
from lsprune.selection.choose import KeySource


@dataclass(frozen=True, kw_only=True, repr=False)
class LowDegree(LocalPruner):
    """Every owner keeps its k neighbours of smallest degree, equal ones by a hash.

    The degree of a neighbour is the number of edges that have it as their neighbour: with side="in", how many nodes it
    sends to.

    >>> LowDegree(k=3)
    LowDegree(k=3)
    """

    name: ClassVar[str] = "low-degree"
    about: ClassVar[str] = "the k neighbours of smallest degree per owner"

    @property
    def needs(self) -> Needs:
        """Say that the degree of the neighbour must be known."""
        return Needs(degree=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """The degree of the neighbour as key."""
        return by_neighbour(owned, neighbour_degrees(graph, owned, self.side, runtime), 1)


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalDegree(LocalPruner):
    """Every owner keeps its k neighbours of largest degree, ties by a hash: the hubs stay (Hamann et al. 2016).

    The degree of a neighbour is the number of edges that have it as their neighbour. The paper lets a node keep
    degree^a edges; here the budget says how many.

    >>> LocalDegree(k=3)
    LocalDegree(k=3)
    """

    name: ClassVar[str] = "local-degree"
    about: ClassVar[str] = "the k neighbours of largest degree per owner"

    @property
    def needs(self) -> Needs:
        """Say that the degree of the neighbour must be known."""
        return Needs(degree=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """The degree of the neighbour as key, turned round."""
        return by_neighbour(owned, neighbour_degrees(graph, owned, self.side, runtime), -1)


def neighbour_degrees(graph: Graph, owned: Owned, side: str, runtime: Runtime) -> Array:
    """The degree of every node that can be a neighbour, on its own side of the edges, int64."""
    return owned.count_neighbours(runtime.zeros(graph.num_neighbours(side), np.int64))


def by_neighbour(owned: Owned, table: Array, sign: int) -> KeySource:
    """A source with one int64 key for each neighbour, turned round with sign -1."""

    def of(lo: int, hi: int) -> Array:
        return sign * table[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]]

    return KeySource.of_edges(of)
