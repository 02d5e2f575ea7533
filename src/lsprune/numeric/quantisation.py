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
from lsprune.kernels.threads import spans

SAMPLE_ROWS = 1 << 14  # rows that a scale is chosen from
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
    return alike({role: done[id(part.rows)] for role, part in parts.items()}, unit=unit)


def alike(scales: Mapping[str, Scale], *, unit: bool) -> dict[str, Scale]:
    """The scales of the single parts made to go with each other: of one weight, or in one common fixed point."""
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
    centre = unit_centre(_column_sums(rows, runtime), rows.count)
    middle = centre.astype(np.int32)
    sample = Sample.of(rows.name, rows.count, rows.dim)
    histogram, squares, lock = np.zeros(64, np.int64), np.zeros(rows.dim, np.int64), Lock()

    def spread(lo: int, hi: int) -> None:
        counts, sums = np.zeros(64, np.int64), np.zeros(rows.dim, np.int64)
        kernels.unit_spread(rows.take(sample.rows(lo, hi)), middle, counts, sums)
        with lock:
            histogram[:] += counts
            squares[:] += sums

    runtime.spread(sample.size, spread, _rows_at_a_time(rows, _SAMPLE_ROWS))
    return unit_scale(centre, histogram, squares, sample.size)


def unit_centre(sums: Array, count: int) -> Array:
    """The mean of `count` unit rows in 1/65536ths, rounded, from the sums of their columns."""
    count = max(count, 1)
    return (2 * sums + count) // (2 * count)


def unit_scale(centre: Array, histogram: Array, squares: Array, count: int) -> Scale:
    """The scale of unit rows from what `unit_spread` says of a sample of `count` of them."""
    exponent = _finest(histogram)
    variance = squares // max(count, 1)
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


@dataclass(frozen=True)
class Sample:
    """Some row numbers out of `count`, evenly spaced; those of edges may be very many, so they are never all there."""

    size: int
    count: int

    @classmethod
    def of(cls, name: str, count: int, dim: int) -> Sample:
        """All rows of edges, whose order must not matter; of nodes up to SAMPLE_ROWS, fewer of very wide ones."""
        most = count if name == "edge_attr" else max(min(SAMPLE_ROWS, (1 << 24) // max(dim, 1)), 16)
        return cls(min(count, most), count)

    def rows(self, lo: int, hi: int) -> Array:
        """The row numbers lo..hi of the sample."""
        ids = np.arange(lo, hi, dtype=np.int64)
        return ids if self.size == self.count else ids * self.count // self.size


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
    return raw_scale(_top_power(rows, runtime), rows.dim)


def raw_scale(top: int, dim: int) -> Scale:
    """The scale of raw rows whose largest |entry| has the power of two `top`."""
    return Scale(min(14 - top, 40), unit=False, centre=(0,) * dim, spread=(0,) * dim)


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
    return power_of(max(tops))


def power_of(top: int) -> int:
    """The power of two of a number that `raw_top` gave."""
    return (top >> 23) - 127


def _fit_column(rows: AnyRows, runtime: Runtime) -> Scale:
    """A single column is centred and scaled but not normalised: its L2 norm would leave nothing but the sign.

    The centre is the median and the scale that of nearly all distances from it, so that neither a large offset (a date)
    nor a few odd values take all digits.
    """
    sample, finest = Sample.of(rows.name, rows.count, 1), column_finest(_top_power(rows, runtime))
    if not sample.size:
        return Scale(finest, unit=False, centre=(0,), spread=(0,))
    fine = runtime.zeros(sample.size, np.int32)

    def fill(lo: int, hi: int) -> None:
        fine[lo:hi] = column_fine(rows.take(sample.rows(lo, hi)), finest)

    runtime.spread(sample.size, fill, 1 << 16)
    fine.partition(sample.size // 2)
    centre = int(fine[sample.size // 2])
    less = column_coarser(distances(fine, centre, 0)[0], sample.size)
    return column_scale(finest, less, centre, distances(fine, centre, less)[1], sample.size)


def column_finest(top: int) -> int:
    """The exponent that a column is first looked at with: its largest |entry| just fits 30 bits."""
    return 14 - top + _FINER


def column_fine(values: Array, finest: int) -> Array:
    """The entries `[n, 1]` of a column in units of 2^-finest, int32 `[n]`."""
    return np.rint(np.ldexp(values[:, 0].astype(np.float64), finest)).astype(np.int32)


def column_coarser(bits: Array, count: int) -> int:
    """Bits to drop such that all but 1/128 of `count` entries are within 16 bits of the centre."""
    more = np.cumsum(bits[::-1])[::-1] * 128 > count  # whether 1/128 of the rows have so many bits or more
    return min(max(int(np.flatnonzero(more)[-1]) - 15, 0), _FINER)


def column_scale(finest: int, less: int, centre: int, squares: int, count: int) -> Scale:
    """The scale of a column from its median, the bits to drop and the squares of `count` distances."""
    middle = int(_rescaled(np.array([centre]), -less)[0]) if less else centre
    return Scale(finest - less, unit=False, centre=(middle,), spread=(math.isqrt(squares * 1024 // count),))


def distances(values: Array, centre: int, less: int) -> tuple[Array, int]:
    """How many values are how many bits from the centre, and the sum of their squares without the last `less` bits."""
    counts, squares = np.zeros(64, np.int64), 0
    for lo, hi in spans(values.shape[0], 1 << 20):
        off = np.abs(values[lo:hi].astype(np.int64) - centre)
        counts += np.bincount(np.frexp(off.astype(np.float64))[1], minlength=64)
        near = np.minimum(off >> less, 32767)
        squares += int((near * near).sum())
    return counts, squares
