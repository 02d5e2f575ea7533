"""How a weight that compares neighbourhoods is computed where no task sees the whole graph, as on Spark.

A `RowComparison` gives every node a row, in rounds: a node sends numbers to the owners that have it as a neighbour, and
every owner adds them up. The weight of an edge follows from the rows of its two ends. A `SetComparison` needs no more
than how many neighbours the two ends have in common, and how many in all. Both give the integers that `Weight.logs`
gives in memory; the edges carry them from then on (`lsprune.weights.carried`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import View
from lsprune.kernels import Runtime


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(ABC):
    """What the weight of an edge is computed from, if not from the edge and its two ends alone."""

    @abstractmethod
    def check(self, graph: Graph) -> None:
        """Raise GraphError unless the graph has the attributes that are compared; it may have no nodes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SetComparison(Comparison):
    """Compare the neighbours of both ends as sets; each node is in its own set too."""

    @abstractmethod
    def logs(self, common: Array, union: Array, runtime: Runtime) -> Array:
        """Return log2 of the weights, as `Weight.logs`, from the sizes of intersections and unions."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowComparison(Comparison):
    """Compare a row of each end; nodes learn their rows in rounds of sums over neighbours.

    Args:
        rounds: how often messages are sent.
    """

    rounds: int

    @property
    def message_type(self) -> Any:
        """The integer type of what is sent."""
        return np.int64

    @property
    def row_type(self) -> Any:
        """The integer type of the rows that are compared."""
        return np.int64

    @abstractmethod
    def start(self, graph: Graph, runtime: Runtime) -> Array:
        """Return what every node of a graph without edges knows from its attributes, `[n, ...]` int64."""

    @abstractmethod
    def message(self, known: Array) -> Array:
        """Return what nodes send in the next round, `[n, ...]` of `message_type`."""

    @abstractmethod
    def update(self, known: Array, sums: Array, neighbours: Array, runtime: Runtime) -> Array:
        """Return what nodes know after a round, int64.

        Args:
            sums: of the messages of a node and of its neighbours, int64. neighbours: `[n]` their number.
        """

    @abstractmethod
    def finish(self, known: Array, runtime: Runtime) -> Array:
        """Return the rows to compare after the last round, `[n, ...]` of `row_type`."""

    @abstractmethod
    def logs(self, first: Array, second: Array, runtime: Runtime) -> Array:
        """Return log2 of the weights, as `Weight.logs`, from the rows of the owners and of the neighbours."""


def view_of_nodes(count: int, seed: int, runtime: Runtime) -> View:
    """Return a view of nodes without edges, to compute numbers from their attributes."""
    nothing = Owned(np.zeros(count + 1, np.int64), np.empty(0, np.int64), None)
    return View(
        owned=nothing, parts={}, scales={}, normalised=True, seed=seed, total=1, needed=1, functions=1,
        neighbours=count, neighbour_base=np.empty(0, np.int64), runtime=runtime,
    )  # fmt: skip
