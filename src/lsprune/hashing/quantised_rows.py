"""Attributes of edges or nodes as rows of small integers, at most 128 wide: what words and sums are made of."""

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

WIDE = 128  # columns beyond which rows are projected on fewer
NARROW = 64  # columns that they are projected on


def width(view: View) -> int:
    """Columns that small rows have."""
    return width_of(view.scales[role].dim for role in view.parts)


def width_of(dims: Iterable[int]) -> int:
    """Columns that small rows of parts with these widths have."""
    whole = sum(dims)
    return whole if whole <= WIDE else NARROW


def row_blocks(view: View, most: int = BLOCK_ROWS) -> tuple[list[tuple[int, int]], Callable[[int, int], Array]]:
    """Ranges of at most `most` rows, and a function that reads one: `[range, width]` int16 in +-127."""
    dim = max(sum(view.scales[role].dim for role in view.parts), 1)
    size = max(min(most, BLOCK_VALUES // dim), 1)
    owned = view.owned
    if list(view.parts) == ["neighbour"]:
        total = view.parts["neighbour"].rows.count
        return spans(total, size), lambda lo, hi: small_rows(view, {"neighbour": np.arange(lo, hi)})
    total = int(owned.indptr[-1])

    def read(lo: int, hi: int) -> Array:
        found = {}
        for role in view.parts:
            items = owned.edges(lo, hi) if role == "edge" else owned.neighbour[lo:hi]
            if role == "owner":
                items = np.searchsorted(owned.indptr, np.arange(lo, hi), side="right") - 1
            found[role] = view.parts[role].rows_of(items)
        return small_rows(view, found)

    return spans(total, size), read


def small_rows(view: View, ids: dict[str, Array]) -> Array:
    """The rows of all parts side by side, `[n, width]` int16 in +-127: as they are, or projected where wide."""
    if width(view) == sum(view.scales[role].dim for role in view.parts):
        return np.concatenate([_quanta(view, role, some) for role, some in ids.items()], axis=1)
    total = sum(_projected(view, role, some) for role, some in ids.items())
    return np.clip(total * 32 // spread_of(view), -127, 127).astype(np.int16)  # four standard deviations


def _projected(view: View, role: str, ids: Array) -> Array:
    """The rows on random directions, which keeps distances (Johnson and Lindenstrauss), weighted as the parts are."""
    scale = view.scales[role]
    if role not in view.cache:
        draws = draw(view.seed, PROJECT, PARTS.index(role), np.arange(NARROW)[:, None], np.arange(scale.dim)[None, :])
        view.cache[role] = normal(draws)
    out = np.zeros((ids.shape[0], NARROW), np.int64)
    _checked(view, role, ids, lambda block: project_block(view, block, scale, view.cache[role], out))
    return out << scale.shift


def _checked(view: View, role: str, ids: Array, work: Callable[[Array], int]) -> None:
    """Call work(rows) on some rows of a part; raise for the row that it says is not finite."""
    rows = view.parts[role].rows
    block = rows.take(ids)
    if (bad := work(block)) >= 0:
        raise not_finite(rows.name, block[bad], int(ids[bad]))


def _quanta(view: View, role: str, ids: Array) -> Array:
    """The rows as integers in +-127, parts of lower weight in fewer bits, so that all weigh alike."""
    scale, centre = view.scales[role], np.array(view.scales[role].centre, np.int32)
    out = np.zeros((ids.shape[0], scale.dim), np.int16)
    quanta = view.runtime.module.quanta
    _checked(view, role, ids, lambda block: int(quanta(block, scale.unit, scale.exponent, centre, out)))
    less = max(map(_bits, view.scales.values())) - 7 - scale.shift
    rounded = out if less == 0 else (out.astype(np.int64) + (1 << (less - 1))) >> less
    return np.minimum(rounded, 127).astype(np.int16)


def _bits(scale: Scale) -> int:
    """Bits of the largest integer of a part, when it is shifted so that all parts weigh alike."""
    return (7 if scale.unit else 15) + scale.shift
