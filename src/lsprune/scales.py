"""How attribute rows become small integers: what `fit` learns, and the one place where floats of the data decide.

Statistics are order-independent integer sums, scales are powers of two: the same on every executor and any threads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np

from lsprune.attributes import AnyRows, Part, SparseRows
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.kernels import BLOCK_VALUES, Runtime, check_row

SAMPLE = 1 << 14  # rows looked at to choose a scale
_ROWS, _SAMPLE_ROWS = 1 << 11, 1 << 10  # rows a thread takes at a time
_FINER = 15  # bits by which a single column may be finer than its largest value allows


@dataclass(frozen=True)
class Scale:
    """How the rows of one part become integers.

    exponent: quanta per unit, as a power of two; unit: rows are L2-normalised first; shift: bits to move this part's
    sums up so that all parts weigh alike; centre: column means, in 1/256 quanta for unit rows and in quanta for raw
    ones; spread: column deviations in 1/32 quanta; categories: number of values, or 0 for vectors.
    """

    exponent: int
    unit: bool = True
    shift: int = 0
    centre: tuple[int, ...] = field(default=(), repr=False)
    spread: tuple[int, ...] = field(default=(), repr=False)
    categories: int = 0

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self.centre)


def check_fitted(parts: Mapping[str, Part], fitted: Mapping[str, Scale]) -> None:
    """Raise unless the parts have the shape they were fitted on."""
    if set(parts) != set(fitted):
        raise GraphError(
            f"the pruner was fitted on {', '.join(fitted)} attributes, this graph gives {', '.join(parts)}"
        )
    for role, part in parts.items():
        if part.rows.dim != fitted[role].dim:
            raise GraphError(
                f"{part.rows.name} must have {fitted[role].dim} columns as when fitted, got {part.rows.dim}"
            )


def check_finite(parts: Mapping[str, Part], runtime: Runtime) -> None:
    """Raise for the first attribute that is not a finite float32."""
    for part in parts.values():
        _fit_raw(part.rows, runtime)


def fit_scales(parts: Mapping[str, Part], *, unit: bool, runtime: Runtime) -> dict[str, Scale]:
    """The scale of each part: normalised, centred and scaled (`unit`), or raw values in one common fixed point."""
    done: dict[int, Scale] = {}
    for part in parts.values():
        if id(part.rows) not in done:
            fit = _fit_raw if not unit else _fit_column if part.rows.dim == 1 else _fit_unit
            if part.rows.dim == 0:
                raise GraphError(f"{part.rows.name} must have at least one column, got none")
            done[id(part.rows)] = replace(fit(part.rows, runtime), categories=part.categories)
    scales = {role: done[id(part.rows)] for role, part in parts.items()}
    if unit:
        return _balanced(scales)
    least = min(scale.exponent for scale in scales.values())
    return {role: replace(scale, exponent=least) for role, scale in scales.items()}


def _balanced(scales: Mapping[str, Scale]) -> dict[str, Scale]:
    """Shifts that bring the parts' rows to about the same length, so that no part drowns another."""
    energy = {role: sum(value * value for value in scale.spread).bit_length() for role, scale in scales.items()}
    most = max(energy.values())
    return {role: replace(scale, shift=(most - energy[role] + 1) // 2) for role, scale in scales.items()}


def _fit_unit(rows: AnyRows, runtime: Runtime) -> Scale:
    """Centre: the mean of the unit rows. Scale: the finest power of two that clips under 1/128 of their energy."""
    kernels = runtime.module
    total, count = _column_sums(rows, runtime), max(rows.count, 1)
    centre = (2 * total + count) // (2 * count)  # rounded mean in 1/65536ths
    middle = centre.astype(np.int32)
    sample = _sample(rows)
    histogram, squares, lock = np.zeros(64, np.int64), np.zeros(rows.dim, np.int64), Lock()

    def spread(lo: int, hi: int) -> None:
        counts, sums = np.zeros(64, np.int64), np.zeros(rows.dim, np.int64)
        kernels.unit_spread(rows.take(sample[lo:hi]), middle, counts, sums)
        with lock:
            histogram[:] += counts
            squares[:] += sums

    runtime.spread(sample.size, spread, _rows_at_a_time(rows, _SAMPLE_ROWS))
    exponent = _finest(histogram)
    variance = squares // max(sample.size, 1)
    return Scale(
        exponent=exponent,
        centre=tuple(_rescaled(centre, exponent + 8 - 16).tolist()),
        spread=tuple(_rescaled(_roots(variance), exponent + 5 - 16).tolist()),
    )


def _column_sums(rows: AnyRows, runtime: Runtime) -> Array:
    """The sums of the columns of the unit rows, in 1/65536ths; integers, so that the order of addition is free."""
    total, lock, kernels = np.zeros(rows.dim, np.int64), Lock(), runtime.module

    def one(lo: int, hi: int) -> None:
        sums = np.zeros(rows.dim, np.int64)
        if isinstance(rows, SparseRows):
            bad = kernels.sparse_sums(*rows.compressed(lo, hi), sums)
        else:
            bad = kernels.unit_sums(rows.block(lo, hi), sums)
        check_row(rows, lo, bad)
        with lock:
            total[:] += sums

    runtime.spread(rows.count, one, _rows_at_a_time(rows, _ROWS))
    return total


def _rows_at_a_time(rows: AnyRows, most: int) -> int:
    """Rows in a block: few when they are very wide."""
    return max(min(most, BLOCK_VALUES // max(rows.dim, 1)), 1)


def _sample(rows: AnyRows) -> Array:
    """All rows of edges, whose order must not matter; of nodes up to SAMPLE, evenly spaced, fewer of very wide ones."""
    if rows.name == "edge_attr":
        return np.arange(rows.count, dtype=np.int64)
    size = min(rows.count, max(min(SAMPLE, (1 << 24) // max(rows.dim, 1)), 16))
    return np.arange(size, dtype=np.int64) * rows.count // max(size, 1)


def _finest(histogram: Array) -> int:
    """The exponent under which entries of more than 127 quanta hold at most 1/128 of the energy."""
    energy = [int(count) << (2 * size) for size, count in enumerate(histogram.tolist())]
    clipped, size = 0, len(energy) - 1
    while size > 0 and (clipped + energy[size]) * 128 <= sum(energy):
        clipped += energy[size]
        size -= 1
    return min(max(23 - size, 6), 20)


def _rescaled(values: Array, bits: int) -> Array:
    """values * 2^bits, rounded half up."""
    return values << bits if bits >= 0 else (values + (1 << (-bits - 1))) >> -bits


def _roots(values: Array) -> Array:
    """The integer square roots; the float ones may be off by one."""
    roots = np.sqrt(values.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > values
    return np.asarray(roots + ((roots + 1) ** 2 <= values))


def _fit_raw(rows: AnyRows, runtime: Runtime) -> Scale:
    """Fixed point for raw values: the largest |entry| just fits 16 bits."""
    exponent = min(14 - _top_power(rows, runtime), 40)
    return Scale(exponent, unit=False, centre=(0,) * rows.dim, spread=(0,) * rows.dim)


def _top_power(rows: AnyRows, runtime: Runtime) -> int:
    """The power of two of the largest |entry|; raises for one that is not finite."""
    tops = [0]

    def top(lo: int, hi: int) -> None:
        block = rows.compressed(lo, hi)[2][None, :] if isinstance(rows, SparseRows) else rows.block(lo, hi)
        found = int(runtime.module.raw_top(block))
        if found >= 255 << 23:
            check_row(rows, lo, int(np.flatnonzero(~np.isfinite(rows.block(lo, hi)).all(axis=1))[0]))
        tops.append(found)

    runtime.spread(rows.count, top, _rows_at_a_time(rows, _ROWS))
    return (max(tops) >> 23) - 127


def _fit_column(rows: AnyRows, runtime: Runtime) -> Scale:
    """A single column is centred and scaled but not normalised: its L2 norm would leave nothing but the sign.

    The centre is the median and the scale that of nearly all distances from it, so that neither a large offset (a date)
    nor a few odd values take all digits.
    """
    sample, finest = _sample(rows), 14 - _top_power(rows, runtime) + _FINER
    if not sample.size:
        return Scale(finest, unit=False, centre=(0,), spread=(0,))
    fine = np.empty(sample.size, np.int32)

    def fill(lo: int, hi: int) -> None:
        fine[lo:hi] = np.rint(np.ldexp(rows.take(sample[lo:hi])[:, 0].astype(np.float64), finest))

    runtime.spread(sample.size, fill, 1 << 16)
    centre = int(np.partition(fine, sample.size // 2)[sample.size // 2])
    off = np.abs(fine.astype(np.int64) - centre)
    counts = np.bincount(np.frexp(off.astype(np.float64))[1], minlength=64)
    more = np.cumsum(counts[::-1])[::-1] * 128 > sample.size  # whether 1/128 of the rows have so many bits or more
    less = min(max(int(np.flatnonzero(more)[-1]) - 15, 0), _FINER)
    near = np.minimum(off >> less, 32767)
    middle = int(_rescaled(np.array([centre]), -less)[0]) if less else centre
    variance = int((near * near).sum()) * 1024 // sample.size
    return Scale(finest - less, unit=False, centre=(middle,), spread=(math.isqrt(variance),))
