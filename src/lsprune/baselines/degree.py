"""Keep neighbours by their degree: the smallest first, or the largest (hubs) first."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.contract import SAME_EDGES
from lsprune.pruners.scored import ScoredPruner
from lsprune.selection.choose import KeySource


@dataclass(frozen=True, kw_only=True, repr=False)
class LowDegree(ScoredPruner):
    """Every owner keeps its k neighbours of smallest degree; a hash breaks ties.

    The degree counts the edges that have the node as their neighbour: with side="in", its out-degree.

    >>> LowDegree(k=3)
    LowDegree(k=3)
    """

    name: ClassVar[str] = "low-degree"
    about: ClassVar[str] = "the k neighbours per owner with the smallest degree"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    @property
    def score_needs(self) -> Needs:
        """Say that keys depend on the degree of the neighbour."""
        return Needs(degree=True, gpu=True)

    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the degree of the neighbour as key."""
        return _keys_by_degree(graph, owned, self.side, 1, runtime)

    def scores_of_keys(self, keys: Array) -> Array:
        """Return the degree of the neighbour; the smallest are kept."""
        return keys.astype(np.float64)


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalDegree(ScoredPruner):
    """Every owner keeps its k neighbours of largest degree, the hubs (Hamann et al. 2016); a hash breaks ties.

    The degree counts the edges that have the node as their neighbour. In the paper a node keeps degree^a edges:
    `budget=PerNode(exponent=a)`.

    >>> LocalDegree(k=3)
    LocalDegree(k=3)
    """

    name: ClassVar[str] = "local-degree"
    about: ClassVar[str] = "the k neighbours per owner with the largest degree"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    @property
    def score_needs(self) -> Needs:
        """Say that keys depend on the degree of the neighbour."""
        return Needs(degree=True, gpu=True)

    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the negated degree of the neighbour as key."""
        return _keys_by_degree(graph, owned, self.side, -1, runtime)

    def scores_of_keys(self, keys: Array) -> Array:
        """Return the degree of the neighbour; the largest are kept."""
        return -keys.astype(np.float64)


def _keys_by_degree(graph: Graph, owned: Owned, side: str, sign: int, runtime: Runtime) -> KeySource:
    """Return a source of keys sign * (edges that have the neighbour as theirs)."""
    if runtime.device is not None:
        return KeySource.of_edges(import_module("lsprune.device.edge_keys").degree_keys(graph, owned, side, sign))
    degree = owned.count_neighbours(runtime.zeros(graph.num_neighbours(side), np.int64))

    def keys_of_owners(lo: int, hi: int) -> Array:
        return sign * degree[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]]

    return KeySource.of_edges(keys_of_owners)
