"""Quantise the attributes of edges or nodes: rows of integers in [-127, 127], projected if they are very wide.

Codebooks and `weights="similarity"` compute distances and sums of these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lsprune.attributes import PARTS
from lsprune.graph import Array
from lsprune.hashing.base import View
from lsprune.hashing.keys import project_block, spread_of
from lsprune.kernels import BLOCK_ROWS, BLOCK_VALUES, not_finite
from lsprune.kernels.threads import spans
from lsprune.numeric.normal_table import normal
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.random_numbers import PROJECT, draw

MAX_PLAIN_COLUMNS = 128  # wider rows are projected
PROJECTED_COLUMNS = 64  # number of columns after the projection


def width(view: View) -> int:
    """Return the number of columns of the quantised rows of a view."""
    return width_of(view.scales[role].dim for role in view.parts)


def width_of(dims: Iterable[int]) -> int:
    """Return the number of columns of quantised rows whose parts have these numbers of columns."""
    total = sum(dims)
    return total if total <= MAX_PLAIN_COLUMNS else PROJECTED_COLUMNS


def row_blocks(view: View, max_rows: int = BLOCK_ROWS) -> tuple[list[tuple[int, int]], Callable[[int, int], Array]]:
    """Return ranges of at most `max_rows` rows, and a function that reads a range: `[hi - lo, width]` int16.

    There is a row for every slot; for every row of `x` if the neighbour's attributes are the only part.
    """
    dim = max(sum(view.scales[role].dim for role in view.parts), 1)
    size = max(min(max_rows, BLOCK_VALUES // dim), 1)
    owned = view.owned
    if list(view.parts) == ["neighbour"]:
        total = view.parts["neighbour"].rows.count
        return spans(total, size), lambda lo, hi: quantised_rows(view, {"neighbour": np.arange(lo, hi)})
    total = int(owned.indptr[-1])

    def read(lo: int, hi: int) -> Array:
        ids = {}
        for role in view.parts:
            items = owned.edges(lo, hi) if role == "edge" else owned.neighbour[lo:hi]
            if role == "owner":
                items = np.searchsorted(owned.indptr, np.arange(lo, hi), side="right") - 1
            ids[role] = view.parts[role].rows_of(items)
        return quantised_rows(view, ids)

    return spans(total, size), read


def quantised_rows(view: View, ids: dict[str, Array]) -> Array:
    """Return the rows with these ids, all parts side by side, as `[n, width]` int16 in [-127, 127].

    If all parts together have more than MAX_PLAIN_COLUMNS columns, return a random projection of them instead.
    """
    if width(view) == sum(view.scales[role].dim for role in view.parts):
        return np.concatenate([_quantised(view, role, rows) for role, rows in ids.items()], axis=1)
    total = sum(_projected(view, role, rows) for role, rows in ids.items())
    return np.clip(total * 32 // spread_of(view), -127, 127).astype(np.int16)  # clipped at 4 standard deviations


def _projected(view: View, role: str, ids: Array) -> Array:
    """Return a random projection of rows of a part, which nearly preserves distances (Johnson and Lindenstrauss)."""
    scale = view.scales[role]
    if role not in view.cache:
        steps, columns = np.arange(PROJECTED_COLUMNS)[:, None], np.arange(scale.dim)[None, :]
        view.cache[role] = normal(draw(view.seed, PROJECT, PARTS.index(role), steps, columns))
    out = np.zeros((ids.shape[0], PROJECTED_COLUMNS), np.int64)
    _read_rows(view, role, ids, lambda block: project_block(view, block, scale, view.cache[role], out))
    return out << scale.shift


def _read_rows(view: View, role: str, ids: Array, work: Callable[[Array], int]) -> None:
    """Call work(rows) on rows of a part; raise GraphError if it returns the number of a row that is not finite."""
    rows = view.parts[role].rows
    block = rows.take(ids)
    if (bad := work(block)) >= 0:
        raise not_finite(rows.name, block[bad], int(ids[bad]))


def _quantised(view: View, role: str, ids: Array) -> Array:
    """Return rows of a part as integers in [-127, 127]; parts with a smaller shift lose bits, to balance all parts."""
    scale, centre = view.scales[role], np.array(view.scales[role].centre, np.int32)
    out = np.zeros((ids.shape[0], scale.dim), np.int16)
    quanta = view.runtime.module.quanta
    _read_rows(view, role, ids, lambda block: int(quanta(block, scale.unit, scale.exponent, centre, out)))
    dropped = dropped_bits(view, role)
    rounded = out if dropped == 0 else (out.astype(np.int64) + (1 << (dropped - 1))) >> dropped
    return np.minimum(rounded, 127).astype(np.int16)


def dropped_bits(view: View, role: str) -> int:
    """Return how many low bits the integers of a part lose, so that those of all parts fit 7 bits."""
    return max(map(_shifted_bits, view.scales.values())) - 7 - view.scales[role].shift


def _shifted_bits(scale: Scale) -> int:
    """Return the number of bits of the largest integer of a part after the shift that balances all parts."""
    return (7 if scale.unit else 15) + scale.shift
