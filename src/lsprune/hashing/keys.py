"""Compute keys from attributes: random projections, sums over parts and tables of keys, in exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from lsprune.attributes import Part, SparseRows
from lsprune.graph import Array
from lsprune.hashing.base import BLOCK_FUNCTIONS, EdgeKeys, Keys, NodeKeys, View
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, check_row, not_finite
from lsprune.kernels.threads import spans
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.random_numbers import is_tensor
from lsprune.numeric.weighted_sampling import FRACTION_BITS, LOG_KEY_BITS, log_times

TABLE_ROWS = 1 << 14  # rows of a table computed at a time
MAX_UNCACHED_FUNCTIONS = 2 * BLOCK_FUNCTIONS  # with more, attributes are quantised once, not for every block
MAX_SUM_COLUMNS = 1 << 10  # of the sums of edge attributes, about
NO_KEY = 2**31 - 1  # means "no edge" in kernels: all int32 keys are smaller


def uniform(view: View, draws: Array) -> Array:
    """Return keys from uint64 draws: their top 30 bits, or log2(-log U) in units of 1 / LOG_KEY_UNIT if `log_keys`."""
    if view.device is not None:
        tensor: Array = _on_device().uniform(view, draws)
        return tensor
    if not view.log_keys:
        return (draws >> np.uint64(34)).astype(np.int32)  # below NO_KEY
    times = log_times(draws.ravel(), np.zeros(1, np.int64), view.runtime) >> (FRACTION_BITS - LOG_KEY_BITS)
    return times.astype(np.int32).reshape(draws.shape)


def project(view: View, part: Part, scale: Scale, weights: Array, *, width: int | None = None) -> Array:
    """Return <row, weights[z]> for every row of a part: `[R, width]`, int32 if that is exact, else int64."""
    if view.device is not None:
        tensor: Array = _on_device().project(view, part, scale, weights, width)
        return tensor
    fits_int32 = scale.unit and part.rows.dim <= 1 << 17 and width is not None
    centre, kernel = np.array(scale.centre, np.int32), view.runtime.module.project
    if isinstance(part.rows, SparseRows):
        return _project_sparse(view, part.rows, scale, centre, weights)
    shape = (part.rows.count, width or weights.shape[0])
    out = _reused_table(view, shape) if fits_int32 else view.runtime.zeros(shape, np.int64)
    role = next((name for name, candidate in view.parts.items() if candidate is part), None)
    if fits_int32 and role is not None and view.functions > MAX_UNCACHED_FUNCTIONS:
        q, project_quanta = quantised(view, role), view.runtime.module.project_quanta
        view.runtime.spread(part.rows.count, lambda lo, hi: project_quanta(q[lo:hi], weights, out[lo:hi]), BLOCK_ROWS)
        return out
    view.runtime.over_rows(
        part.rows, lambda block, lo, hi: kernel(block, scale.unit, scale.exponent, centre, weights, out[lo:hi])
    )
    return out


def _reused_table(view: View, shape: tuple[int, int]) -> Array:
    """Return an int32 table that all blocks of functions share: new memory costs as much time as the keys."""
    name = f"table {shape}"
    if name not in view.cache:
        view.cache[name] = view.runtime.zeros(shape, np.int32)
    table: Array = view.cache[name]
    return table


def quantised(view: View, role: str) -> Array:
    """Return the quantised unit rows of a part, `[R, d]` int8, computed once: a quarter of the size of float32."""
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

    def project_rows(lo: int, hi: int) -> None:
        arrays = rows.compressed(lo, hi)
        check_row(rows, lo, kernel(*arrays, scale.unit, scale.exponent, centre, weights, out[lo:hi]))

    view.runtime.spread(rows.count, project_rows)
    return out


def project_block(view: View, block: Array, scale: Scale, weights: Array, out: Array) -> int:
    """Write <row, weights[z]> of a block of rows to `out`; return the number of a row that is not finite, or -1."""
    centre = np.array(scale.centre, np.int32)
    return int(view.runtime.module.project(block, scale.unit, scale.exponent, centre, weights, out))


def edge_rows(view: View, ids: Array, work: Callable[[Array], int]) -> None:
    """Call work(rows) on the attribute rows of edges; raise GraphError if it returns the number of a non-finite row."""
    part = view.parts["edge"]
    block = part.rows.take(part.rows_of(ids))
    if (bad := work(block)) >= 0:
        raise not_finite(part.rows.name, block[bad], int(ids[bad]))


def of_nodes(view: View, table: Array) -> Keys:
    """Return keys from a table `[neighbours, count]` of any integer type: `NodeKeys` if they fit int32."""
    if view.device is not None:
        return NodeKeys(_on_device().padded(table))
    if table.dtype == np.int32 and table.shape[1] in (8, 16):
        return NodeKeys(table)
    if table.size == 0 or (table.min() >= -(2**31) and table.max() < NO_KEY):
        padded = view.runtime.zeros((table.shape[0], 8 if table.shape[1] <= 8 else 16), np.int32)
        padded[:, : table.shape[1]] = table
        return NodeKeys(padded)
    owned = view.owned
    return EdgeKeys(lambda lo, hi: table[owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]].astype(np.int64))


def of_codes(view: View, codes: Array, table: Callable[[Array], Array], kinds: int, count: int) -> Keys:
    """Return the keys of `kinds` codes, by code: of every neighbour if its attributes are the only part, or every slot.

    Args:
        table: a function from all codes, `[kinds, 1]`, to their int32 keys, `[kinds, count]`.
    """
    if view.device is not None:
        keys: Keys = _on_device().of_codes(view, codes, table, kinds, count)
        return keys
    by_code = np.zeros((kinds, 8 if count <= 8 else 16), np.int32)
    by_code[:, :count] = table(np.arange(kinds)[:, None])
    if list(view.parts) == ["neighbour"]:
        return of_nodes(view, in_blocks(view, codes.shape[0], lambda lo, hi: by_code[codes[lo:hi]]))
    indptr = view.owned.indptr
    return EdgeKeys(lambda lo, hi: by_code[codes[indptr[lo] : indptr[hi]], :count].astype(np.int64))


def of_slots(view: View, keys: Keys, lo: int, hi: int, count: int) -> Array:
    """Return keys for each slot of the owners lo..hi, `[slots, count]`."""
    if isinstance(keys, EdgeKeys):
        return keys.of(lo, hi)
    start, stop = view.owned.bounds(lo, hi)
    neighbour = view.owned.neighbour[start:stop]
    return keys.table[neighbour if view.device is None else as_int64(neighbour)][:, :count]


def as_int64(keys: Array) -> Array:
    """Return keys of any integer type as int64, an array or a tensor."""
    tensor: Any = keys
    wide: Array = tensor.long() if is_tensor(keys) else keys.astype(np.int64)
    return wide


def equal_keys(view: View, count: int) -> Keys:
    """Return keys that are all equal, so that ties decide."""
    width = 8 if count <= 8 else 16
    if view.device is not None:
        return NodeKeys(_on_device().zeros(view, width))
    return NodeKeys(view.runtime.zeros((view.neighbours, width), np.int32))


def _on_device() -> Any:
    """Return the module with the same functions for views on a device; it imports torch."""
    return import_module("lsprune.hashing.device_keys")


def in_blocks(view: View, count: int, rows: Callable[[int, int], Array]) -> Array:
    """Return the table whose rows lo..hi are rows(lo, hi), computed in blocks to bound the temporary memory."""
    if view.device is not None:
        tensor: Array = _on_device().in_blocks(count, rows)
        return tensor
    empty = rows(0, 0)
    out = view.runtime.zeros((count, *empty.shape[1:]), empty.dtype)

    def fill(lo: int, hi: int) -> None:
        out[lo:hi] = rows(lo, hi)

    view.runtime.spread(count, fill, TABLE_ROWS)
    return out


def of_sums(
    view: View, tables: Mapping[str, Array], edge: Callable[[Array], Array] | None, finish: Callable[[Array], Array]
) -> Keys:
    """Return keys `finish(sum of the parts)`.

    They are a table if the neighbour is the only part; otherwise they are computed for a block of owners at a time.

    Args:
        tables: the values of each node part, `[rows, count]`.
        edge: a function from edge ids to the values of the edge part.
        finish: a function from sums to keys.
    """
    if view.device is not None:
        keys: Keys = _on_device().of_sums(view, tables, edge, finish)
        return keys
    if edge is None and set(tables) == {"neighbour"}:
        part, sums = view.parts["neighbour"], tables["neighbour"]
        finished = in_blocks(view, sums.shape[0], lambda lo, hi: finish(sums[lo:hi]))
        if part.index is None:
            return of_nodes(view, finished)
        index = part.index
        return of_nodes(view, in_blocks(view, index.shape[0], lambda lo, hi: finished[index[lo:hi]]))
    owned = view.owned
    widest = max((table.shape[1] for table in tables.values()), default=MAX_SUM_COLUMNS)
    block_slots = max(BLOCK_VALUES // widest, 1)

    def keys_of_slots(start: int, stop: int, owners: Array) -> Array:
        total: Any = None if edge is None else edge(owned.edges(start, stop))
        for role, table in tables.items():
            items = owned.neighbour[start:stop] if role == "neighbour" else owners
            values = table[view.parts[role].rows_of(items)]
            total = values if total is None else total + values
        return np.ascontiguousarray(finish(total), dtype=np.int64)

    def keys_of_owners(lo: int, hi: int) -> Array:
        start, stop, owners = int(owned.indptr[lo]), int(owned.indptr[hi]), owned.owners(lo, hi)
        if stop - start <= block_slots:
            return keys_of_slots(start, stop, owners)
        return np.concatenate(  # a hub: sums may have many times more columns than keys
            [keys_of_slots(start + a, start + b, owners[a:b]) for a, b in spans(stop - start, block_slots)]
        )

    return EdgeKeys(keys_of_owners)


def sums_of(view: View, weights: Mapping[str, Array], finish: Callable[[Array], Array]) -> Keys:
    """Return keys `finish(<attributes, weights[z]>)`, summed over the parts that have weights `[count, dim]`."""
    if view.device is not None:
        keys: Keys = _on_device().sums_of(view, weights, finish)
        return keys
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
    """Return the standard deviation of a random projection of the rows, in the units of its sums.

    Column deviations are in 1/32 quanta, and projected sums are too, because weights are in 1/32.
    """
    energy = sum(sum(value * value for value in scale.spread) << (2 * scale.shift) for scale in view.scales.values())
    return max(math.isqrt(energy), 1)
