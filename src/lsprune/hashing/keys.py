"""How families make keys: tables of keys, projections and sums in exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lsprune.attributes import Part, SparseRows
from lsprune.graph import Array
from lsprune.hashing.base import STEPS, EdgeKeys, Keys, NodeKeys, View
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, check_row, not_finite
from lsprune.kernels.threads import spans
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_BITS, log_times

TABLE_ROWS = 1 << 14  # rows of a table made at a time
MANY_STEPS = 2 * STEPS  # beyond so many, attributes are made integers once and not again for every block of functions
SUM_COLUMNS = 1 << 10  # that the sums of edge attributes have at most, about
NOBODY = 2**31 - 1  # no int32 key may reach this


def uniform(view: View, draws: Array) -> Array:
    """Make keys from uint64 draws: their top 30 bits, or with `race` log2(-log U) in units of 1 / LOG_KEY_UNIT."""
    if not view.log_keys:
        return (draws >> np.uint64(34)).astype(np.int32)  # below NOBODY
    times = log_times(draws.ravel(), np.zeros(1, np.int64), view.runtime) >> (FRACTION_BITS - LOG_KEY_BITS)
    return times.astype(np.int32).reshape(draws.shape)


def project(view: View, part: Part, scale: Scale, weights: Array, *, width: int | None = None) -> Array:
    """<row, weights[z]> for every row of a part: `[R, width]`, int32 where that is exact, else int64."""
    small = scale.unit and part.rows.dim <= 1 << 17 and width is not None
    centre, kernel = np.array(scale.centre, np.int32), view.runtime.module.project
    if isinstance(part.rows, SparseRows):
        return _project_sparse(view, part.rows, scale, centre, weights)
    shape = (part.rows.count, width or weights.shape[0])
    out = _reused_table(view, shape) if small else view.runtime.zeros(shape, np.int64)
    role = next((role for role, known in view.parts.items() if known is part), None)
    if small and role is not None and view.functions > MANY_STEPS:
        q, project_quanta = quantised(view, role), view.runtime.module.project_quanta
        view.runtime.spread(part.rows.count, lambda lo, hi: project_quanta(q[lo:hi], weights, out[lo:hi]), BLOCK_ROWS)
        return out
    view.runtime.over_rows(
        part.rows, lambda block, lo, hi: kernel(block, scale.unit, scale.exponent, centre, weights, out[lo:hi])
    )
    return out


def _reused_table(view: View, shape: tuple[int, int]) -> Array:
    """An int32 table to fill, the same for every block of functions: fresh memory costs as much as the keys."""
    name = f"table {shape}"
    if name not in view.cache:
        view.cache[name] = view.runtime.zeros(shape, np.int32)
    table: Array = view.cache[name]
    return table


def quantised(view: View, role: str) -> Array:
    """The unit rows of a part as integers, `[R, d]` int8, made once: a quarter of what the attributes take."""
    name = f"quantised {role}"
    if name not in view.cache:
        part, scale = view.parts[role], view.scales[role]
        centre, kernel = np.array(scale.centre, np.int32), view.runtime.module.quanta
        q = view.runtime.zeros((part.rows.count, part.rows.dim), np.int8)
        view.runtime.over_rows(
            part.rows, lambda block, lo, hi: kernel(block, scale.unit, scale.exponent, centre, q[lo:hi])
        )
        view.cache[name] = q
    rows: Array = view.cache[name]
    return rows


def _project_sparse(view: View, rows: SparseRows, scale: Scale, centre: Array, weights: Array) -> Array:
    out, kernel = view.runtime.zeros((rows.count, weights.shape[0]), np.int64), view.runtime.module.project_sparse

    def one(lo: int, hi: int) -> None:
        parts = rows.compressed(lo, hi)
        check_row(rows, lo, kernel(*parts, scale.unit, scale.exponent, centre, weights, out[lo:hi]))

    view.runtime.spread(rows.count, one)
    return out


def project_block(view: View, block: Array, scale: Scale, weights: Array, out: Array) -> int:
    """The same for one block of rows; a row number that is not finite, or -1."""
    centre = np.array(scale.centre, np.int32)
    return int(view.runtime.module.project(block, scale.unit, scale.exponent, centre, weights, out))


def edge_rows(view: View, ids: Array, work: Callable[[Array], int]) -> None:
    """Call work(rows) on the attribute rows of some edges; raise for the row that it says is not finite."""
    part = view.parts["edge"]
    block = part.rows.take(part.rows_of(ids))
    if (bad := work(block)) >= 0:
        raise not_finite(part.rows.name, block[bad], int(ids[bad]))


def of_nodes(view: View, table: Array) -> Keys:
    """Keys from a table `[neighbours, count]` of any integer type: the fast kind where they fit int32."""
    if table.dtype == np.int32 and table.shape[1] in (8, 16):
        return NodeKeys(table)
    if table.size == 0 or (table.min() >= -(2**31) and table.max() < NOBODY):
        padded = view.runtime.zeros((table.shape[0], 8 if table.shape[1] <= 8 else 16), np.int32)
        padded[:, : table.shape[1]] = table
        return NodeKeys(padded)
    owned = view.owned
    return EdgeKeys(lambda lo, hi: table[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]].astype(np.int64))


def in_blocks(view: View, count: int, rows: Callable[[int, int], Array]) -> Array:
    """The table whose rows lo..hi are rows(lo, hi), made in blocks: what they take besides is never all in memory."""
    empty = rows(0, 0)
    out = view.runtime.zeros((count, *empty.shape[1:]), empty.dtype)

    def one(lo: int, hi: int) -> None:
        out[lo:hi] = rows(lo, hi)

    view.runtime.spread(count, one, TABLE_ROWS)
    return out


def of_sums(
    view: View, tables: Mapping[str, Array], edge: Callable[[Array], Array] | None, finish: Callable[[Array], Array]
) -> Keys:
    """Keys `finish(sum of the parts)`: node parts as tables of their rows, the edge part computed for some edges.

    With the neighbour part alone this is a table; otherwise keys are made for a block of owners at a time.
    """
    if edge is None and set(tables) == {"neighbour"}:
        part, sums = view.parts["neighbour"], tables["neighbour"]
        finished = in_blocks(view, sums.shape[0], lambda lo, hi: finish(sums[lo:hi]))
        if part.index is None:
            return of_nodes(view, finished)
        index = part.index
        return of_nodes(view, in_blocks(view, index.shape[0], lambda lo, hi: finished[index[lo:hi]]))
    owned = view.owned
    widest = max((table.shape[1] for table in tables.values()), default=SUM_COLUMNS)
    at_a_time = max(BLOCK_VALUES // widest, 1)

    def keys_of(start: int, stop: int, owners: Array) -> Array:
        total: Any = None if edge is None else edge(owned.edges(start, stop))
        for role, table in tables.items():
            items = owned.neighbour[start:stop] if role == "neighbour" else owners
            values = table[view.parts[role].rows_of(items)]
            total = values if total is None else total + values
        return np.ascontiguousarray(finish(total), dtype=np.int64)

    def of(lo: int, hi: int) -> Array:
        start, stop, owners = int(owned.indptr[lo]), int(owned.indptr[hi]), owned.owners(lo, hi)
        if stop - start <= at_a_time:
            return keys_of(start, stop, owners)
        return np.concatenate(  # a hub: sums may be many times wider than keys
            [keys_of(start + a, start + b, owners[a:b]) for a, b in spans(stop - start, at_a_time)]
        )

    return EdgeKeys(of)


def sums_of(view: View, weights: Mapping[str, Array], finish: Callable[[Array], Array]) -> Keys:
    """Keys `finish(<attributes, weights[z]>)`, over the parts that have weights `[count, dim]`."""
    tables = {}
    for role, weight in weights.items():
        if role != "edge":
            tables[role] = project(view, view.parts[role], view.scales[role], weight)
            tables[role] <<= view.scales[role].shift

    def edge(ids: Array) -> Array:
        scale, out = view.scales["edge"], np.zeros((ids.shape[0], weights["edge"].shape[0]), np.int64)
        edge_rows(view, ids, lambda block: project_block(view, block, scale, weights["edge"], out))
        return out << scale.shift

    return of_sums(view, tables, edge if "edge" in weights else None, finish)


def spread_of(view: View) -> int:
    """The standard deviation of a random projection of the rows, in the units of its sums.

    Spreads are in 1/32 quanta and weights in 1/32, so that the two cancel out.
    """
    energy = sum(sum(value * value for value in scale.spread) << (2 * scale.shift) for scale in view.scales.values())
    return max(math.isqrt(energy), 1)
