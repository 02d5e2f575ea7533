"""Weighted min-hash: what is added to a key so that some edges are preferred, the same in every neighbourhood.

Keys of codes are logarithms of times -log U (a race, consistent weighted sampling): half the weight doubles the time,
which adds one. A projection has no times: there half the weight moves an edge back by one standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View, of_nodes
from lsprune.race import BITS, log2

_POWER_BITS = 16


@dataclass(frozen=True, eq=False)
class Handicap:
    """Numbers to add to keys: of each neighbour, or of each edge in the caller's order."""

    of_neighbour: Array | None = None
    of_edge: Array | None = None


def degree_handicap(graph: Graph, view: View, power: int, unit: int) -> Handicap:
    """By log2 of the neighbour's degree: the number of edges that have it as their neighbour."""
    degree = np.bincount(view.owned.neighbour, minlength=view.neighbours)
    values, where = np.unique(np.maximum(degree, 1), return_inverse=True)
    return Handicap(of_neighbour=_scaled(log2(values, view.runtime), power, unit)[where])


def edge_handicap(graph: Graph, view: View, power: int, unit: int) -> Handicap:
    """By minus log2 of the edge attribute."""
    weight = graph.edge_attr
    if weight is None or hasattr(weight, "tocsr") or weight.size != graph.num_edges:
        found = "none" if weight is None else list(weight.shape)
        raise GraphError(f'weights="edge" needs edge_attr with one column, got {found}')
    flat = np.asarray(weight).reshape(-1).astype(np.float32)
    if flat.size and not (np.isfinite(flat).all() and flat.min() > 0):
        raise GraphError('weights="edge" needs edge_attr > 0 and finite')
    fraction, exponent = np.frexp(flat.astype(np.float64))
    whole = (fraction * (1 << 24)).astype(np.uint64)  # exact: a float32 has 24 bits
    logs = log2(whole, view.runtime) + ((exponent.astype(np.int64) - 24) << BITS)
    return Handicap(of_edge=-_scaled(logs, power, unit))


def _scaled(logs: Array, power: int, unit: int) -> Array:
    """logs * power * unit, each in fixed point, rounded down step by step so that 64 bits are enough."""
    scaled = ((logs >> (BITS - 16)) * power) >> 16  # 16 bits of fraction
    return np.asarray((scaled * unit) >> _POWER_BITS)


def weighed(keys: Keys, view: View, more: Handicap, count: int) -> Keys:
    """The keys of `count` functions with the handicap added."""
    owned = view.owned
    if isinstance(keys, NodeKeys) and more.of_neighbour is not None:
        return of_nodes(view, keys.table.astype(np.int64) + more.of_neighbour[:, None])

    def of(lo: int, hi: int) -> Array:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        neighbour = owned.neighbour[start:stop]
        plain = keys.table[neighbour, :count].astype(np.int64) if isinstance(keys, NodeKeys) else keys.of(lo, hi)
        if more.of_neighbour is not None:
            return plain + more.of_neighbour[neighbour][:, None]
        assert more.of_edge is not None
        return plain + more.of_edge[owned.edges(start, stop)][:, None]

    return EdgeKeys(of)
