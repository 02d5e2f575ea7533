"""Weighted min-hash: what is added to a key so that some edges are preferred, the same in every neighbourhood.

Keys of codes are logarithms of times -log U (a race, consistent weighted sampling): half the weight doubles the time,
which adds one. A projection has no times: there half the weight moves an edge back by one standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.checks import shown
from lsprune.common_neighbours import overlaps
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View
from lsprune.hashing.keys import in_blocks, of_nodes
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import FRACTION_BITS, log2
from lsprune.weights.surroundings import COSINE_BITS, cosines, described, node_rows, surroundings

SHARP = 16  # doublings of the weight from cosine 0 to cosine 1
_POWER_BITS = 16


@dataclass(frozen=True, eq=False)
class Handicap:
    """Numbers to add to keys: of each neighbour, or of each edge in the caller's order or in that of the owners."""

    of_neighbour: Array | None = None
    of_edge: Array | None = None
    of_slot: Array | None = None

    def of(self, owned: Owned, start: int, stop: int) -> Array:
        """What is added to the keys of some slots."""
        if self.of_neighbour is not None:
            return np.asarray(self.of_neighbour[owned.neighbour[start:stop]])
        if self.of_slot is not None:
            return self.of_slot[start:stop]
        assert self.of_edge is not None
        return np.asarray(self.of_edge[owned.edges(start, stop)])


def check_weights(weights: object) -> None:
    """Raise unless the option is one of those that `LSP` names."""
    text = weights if isinstance(weights, str) else ""
    if weights is None or text in ("degree", "jaccard", "similarity", "auto", "edge"):
        return
    role, _, column = text.partition(":")
    if role not in ("edge", "neighbour") or not (column.isascii() and column.isdigit() and len(column) < 10):
        known = '"degree", "jaccard", "similarity", "auto", "edge", "edge:COLUMN" or "neighbour:COLUMN"'
        raise OptionError(f"weights must be {known}, got {shown(weights)}")


def handicap(
    graph: Graph, view: View, side: str, weights: str, power: int, unit: int, scale: Scale | None = None
) -> Handicap:
    """What the weights add to the keys of each neighbour or edge; similarity needs the scale of the nodes' rows."""
    if weights == "degree":
        logs = _degree_logs(view)
        return Handicap(of_neighbour=in_blocks(view, view.neighbours, lambda lo, hi: _scaled(logs[lo:hi], power, unit)))
    if weights == "jaccard":
        return Handicap(of_slot=-_scaled(_jaccard_logs(graph, view), power, unit))
    if weights == "similarity":
        assert scale is not None
        near = _cosines(graph, view, side, scale)

        def some(lo: int, hi: int) -> Array:
            return -_scaled((near[lo:hi] << (FRACTION_BITS - COSINE_BITS)) * SHARP, power, unit)

        return Handicap(of_slot=in_blocks(view, near.shape[0], some))
    if weights.startswith("edge"):
        return Handicap(of_edge=_of_column(graph.edge_attr, "edge_attr", weights, view, power, unit))
    x = graph.x_source if side == "in" else graph.x_target
    return Handicap(of_neighbour=_of_column(x, "x", weights, view, power, unit))


def _of_column(rows: Any, name: str, weights: str, view: View, power: int, unit: int) -> Array:
    """What the column that `weights` names adds to keys, for each of its rows."""
    column = _column(rows, name, weights)

    def some(lo: int, hi: int) -> Array:
        with np.errstate(over="ignore", under="ignore"):  # what float32 cannot hold is refused here
            values = column[lo:hi].astype(np.float32)
        if values.size and not (np.isfinite(values).all() and values.min() > 0):
            raise GraphError(f'weights="{weights}" needs {name} > 0 and finite in float32')
        return -_scaled(_logs(values, view), power, unit)

    return in_blocks(view, column.shape[0], some)


def _degree_logs(view: View) -> Array:
    """log2 of each neighbour's degree: the number of edges that have it as their neighbour."""
    degree = view.owned.count_neighbours(view.runtime.zeros(view.neighbours, np.int64))
    return in_blocks(view, view.neighbours, lambda lo, hi: log2(np.maximum(degree[lo:hi], 1), view.runtime))


def _jaccard_logs(graph: Graph, view: View) -> Array:
    """log2 of the Jaccard similarity of owner and neighbour, each with itself among its neighbours."""
    if graph.bipartite:
        raise GraphError('weights="jaccard" needs one kind of nodes: two kinds have no common neighbours')
    common, union = overlaps(view.owned, graph.num_nodes, view.runtime, closed=True)
    values, where = np.unique(np.concatenate([common, union]), return_inverse=True)
    logs = log2(values, view.runtime)[where]
    return np.asarray(logs[: common.shape[0]] - logs[common.shape[0] :])


def _cosines(graph: Graph, view: View, side: str, scale: Scale) -> Array:
    """The cosine of the surroundings of owner and neighbour for every slot."""
    part = described(graph, side, view.seed, scale=scale)
    return cosines(surroundings(node_rows(view, part, scale), view.owned, view.runtime), view.owned, view.runtime)


def _column(rows: Any, name: str, weights: str) -> Array:
    """The column that `weights` names, or the only one."""
    _, _, asked = weights.partition(":")
    if rows is not None and not hasattr(rows, "tocsr"):
        rows = np.asarray(rows).reshape(rows.shape[0], -1 if rows.size else 1)
    elif rows is not None:
        rows = rows.tocsr()
    columns = 0 if rows is None else rows.shape[1]
    if not asked and columns != 1:
        raise GraphError(f'weights="{weights}" needs {name} with one column, got {columns or "none"}')
    if asked and int(asked) >= columns:
        raise GraphError(f'weights="{weights}" needs {name} with more than {asked} columns, got {columns or "none"}')
    at = int(asked or 0)
    return np.asarray(rows[:, [at]].toarray()[:, 0] if hasattr(rows, "tocsr") else rows[:, at])


def _logs(values: Array, view: View) -> Array:
    """log2 of float32 numbers, in fixed point."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    whole = (fraction * (1 << 24)).astype(np.uint64)  # exact: a float32 has 24 bits
    return np.asarray(log2(whole, view.runtime) + ((exponent.astype(np.int64) - 24) << FRACTION_BITS))


def _scaled(logs: Array, power: int, unit: int) -> Array:
    """logs * power * unit, each in fixed point, rounded down step by step so that 64 bits are enough."""
    scaled = ((logs >> (FRACTION_BITS - 16)) * power) >> 16  # 16 bits of fraction
    return np.asarray((scaled * unit) >> _POWER_BITS)


def weighed(keys: Keys, view: View, more: Handicap, count: int) -> Keys:
    """The keys of `count` functions with the handicap added."""
    owned = view.owned
    if isinstance(keys, NodeKeys) and more.of_neighbour is not None:
        table, extra = keys.table, more.of_neighbour
        return of_nodes(
            view,
            in_blocks(view, view.neighbours, lambda lo, hi: table[lo:hi].astype(np.int64) + extra[lo:hi, None]),
        )

    def of(lo: int, hi: int) -> Array:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        neighbour, extra = owned.neighbour[start:stop], more.of(owned, start, stop)
        if not isinstance(keys, NodeKeys):
            return keys.of(lo, hi) + extra[:, None]
        out = np.empty((stop - start, count), np.int64)
        view.runtime.module.add_to_keys(keys.table, neighbour, extra, out)
        return out

    return EdgeKeys(of)
