"""How attribute rows become small integers: the scales that `fit` learns from the floats of the data.

Statistics are integer sums and scales are powers of two, so they are the same on every executor with any threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from operator import mul
from threading import Lock

import numpy as np

from lsprune.attributes import AnyRows, Part, SparseRows
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.kernels import BLOCK_VALUES, Runtime, check_row
from lsprune.kernels.threads import spans
from lsprune.numeric.random_numbers import is_tensor

SAMPLE_ROWS = 1 << 14  # rows that a scale is chosen from
_SUM_ROWS, _SPREAD_ROWS = 1 << 11, 1 << 10  # rows a thread takes at a time
_FINER_BITS = 15  # by which a single column may be finer than its largest value allows


@dataclass(frozen=True)
class Scale:
    """How the rows of one part become integers ("quanta")."""

    exponent: int  # quanta per unit, as a power of two
    unit: bool = True  # rows are L2-normalised first
    shift: int = 0  # bits to shift the sums of this part to the left, so that all parts have the same weight
    centre: tuple[int, ...] = field(default=(), repr=False)  # column means, in 1/256 quanta (unit rows) or quanta (raw)
    spread: tuple[int, ...] = field(default=(), repr=False)  # column deviations in 1/32 quanta
    categories: int = 0  # number of category values; 0 for vectors

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self.centre)

    @cached_property
    def centres(self) -> Array:
        """The column means as an int32 array, which must not be changed."""
        return np.array(self.centre, np.int32)


def check_fitted(parts: Mapping[str, Part], fitted: Mapping[str, Scale]) -> None:
    """Raise GraphError unless the parts have the shapes that they were fitted on."""
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
    """Raise GraphError for the first attribute that is not a finite float32."""
    for part in parts.values():
        _fitter("raw", part.rows)(part.rows, runtime)


def fit_scales(parts: Mapping[str, Part], *, unit: bool, runtime: Runtime) -> dict[str, Scale]:
    """Return the scale of each part: normalised, centred and scaled (`unit`), or raw values in one fixed point."""
    scales: dict[int, Scale] = {}
    for part in parts.values():
        if id(part.rows) not in scales:
            fit = _fitter("raw" if not unit else "column" if part.rows.dim == 1 else "unit", part.rows)
            if part.rows.dim == 0:
                raise GraphError(f"{part.rows.name} must have at least one column, got none")
            scales[id(part.rows)] = replace(fit(part.rows, runtime), categories=part.categories)
    return adjusted({role: scales[id(part.rows)] for role, part in parts.items()}, unit=unit)


def _fitter(kind: str, rows: AnyRows) -> Callable[[AnyRows, Runtime], Scale]:
    """Return the function that finds a scale of this kind for the rows, in host memory or on a device."""
    if not is_tensor(getattr(rows, "values", None)):
        return {"raw": _fit_raw, "column": _fit_column, "unit": _fit_unit}[kind]
    fit = getattr(import_module("lsprune.numeric.device_quantisation"), f"fit_{kind}")
    return lambda rows, runtime: fit(rows)


def adjusted(scales: Mapping[str, Scale], *, unit: bool) -> dict[str, Scale]:
    """Return the scales of single parts adjusted to each other: to one weight, or to one fixed point."""
    if unit:
        return _balanced(scales)
    least = min(scale.exponent for scale in scales.values())
    return {role: replace(scale, exponent=least) for role, scale in scales.items()}


def _balanced(scales: Mapping[str, Scale]) -> dict[str, Scale]:
    """Return scales with shifts that bring the rows of all parts to about the same length."""
    energy = {role: sum(map(mul, scale.spread, scale.spread)).bit_length() for role, scale in scales.items()}
    most = max(energy.values())
    return {role: replace(scale, shift=(most - energy[role] + 1) // 2) for role, scale in scales.items()}


def _fit_unit(rows: AnyRows, runtime: Runtime) -> Scale:
    """Return the scale of unit rows: centred at their mean, the finest power of two that clips 1/128 of the energy."""
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

    runtime.spread(sample.size, spread, _rows_at_a_time(rows, _SPREAD_ROWS))
    return unit_scale(centre, histogram, squares, sample.size)


def unit_centre(sums: Array, count: int) -> Array:
    """Return the mean of `count` unit rows in 2^-16, rounded, from the sums of their columns."""
    count = max(count, 1)
    return (2 * sums + count) // (2 * count)


def unit_scale(centre: Array, histogram: Array, squares: Array, count: int) -> Scale:
    """Return the scale of unit rows from what `unit_spread` counted in a sample of `count` of them."""
    exponent = _finest(histogram)
    variance = squares // max(count, 1)
    return Scale(
        exponent=exponent,
        centre=tuple(_rescaled(centre, exponent + 8 - 16).tolist()),
        spread=tuple(_rescaled(_roots(variance), exponent + 5 - 16).tolist()),
    )


def _column_sums(rows: AnyRows, runtime: Runtime) -> Array:
    """Return the sums of the columns of the unit rows, in 2^-16: integers, so that their order does not matter."""
    total, lock, kernels = np.zeros(rows.dim, np.int64), Lock(), runtime.module

    def add(lo: int, hi: int) -> None:
        sums = np.zeros(rows.dim, np.int64)
        if isinstance(rows, SparseRows):
            bad = kernels.sparse_sums(*rows.compressed(lo, hi), sums)
        else:
            bad = kernels.unit_sums(rows.block(lo, hi), sums)
        check_row(rows, lo, bad)
        with lock:
            total[:] += sums

    runtime.spread(rows.count, add, _rows_at_a_time(rows, _SUM_ROWS))
    return total


def _rows_at_a_time(rows: AnyRows, most: int) -> int:
    """Return the number of rows in a block: fewer if they are very wide."""
    return max(min(most, BLOCK_VALUES // max(rows.dim, 1)), 1)


@dataclass(frozen=True)
class Sample:
    """Evenly spaced row numbers out of `count`, computed on demand: there may be very many edges."""

    size: int
    count: int

    @classmethod
    def of(cls, name: str, count: int, dim: int) -> Sample:
        """Return all rows of edges, whose order must not matter; up to SAMPLE_ROWS of nodes, fewer if they are wide."""
        most = count if name == "edge_attr" else max(min(SAMPLE_ROWS, (1 << 24) // max(dim, 1)), 16)
        return cls(min(count, most), count)

    def rows(self, lo: int, hi: int) -> Array:
        """Return the row numbers lo..hi of the sample."""
        ids = np.arange(lo, hi, dtype=np.int64)
        return ids if self.size == self.count else ids * self.count // self.size


def _finest(histogram: Array) -> int:
    """Return the largest exponent for which entries above 127 quanta hold at most 1/128 of the energy."""
    energy = [int(count) << (2 * size) for size, count in enumerate(histogram.tolist())]
    clipped, size = 0, len(energy) - 1
    while size > 0 and (clipped + energy[size]) * 128 <= sum(energy):
        clipped += energy[size]
        size -= 1
    return min(max(23 - size, 6), 20)


def _rescaled(values: Array, bits: int) -> Array:
    """Return values * 2^bits, rounded half up."""
    return values << bits if bits >= 0 else (values + (1 << (-bits - 1))) >> -bits


def _roots(values: Array) -> Array:
    """Return integer square roots; float ones may be off by one, which is corrected."""
    roots = np.sqrt(values.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > values
    return np.asarray(roots + ((roots + 1) ** 2 <= values))


def _fit_raw(rows: AnyRows, runtime: Runtime) -> Scale:
    """Return the fixed point for raw values in which the largest |entry| just fits 16 bits."""
    return raw_scale(_top_power(rows, runtime), rows.dim)


def raw_scale(top: int, dim: int) -> Scale:
    """Return the scale of raw rows whose largest |entry| has the power of two `top`."""
    return Scale(min(14 - top, 40), unit=False, centre=(0,) * dim, spread=(0,) * dim)


def _top_power(rows: AnyRows, runtime: Runtime) -> int:
    """Return the power of two of the largest |entry|; raise GraphError for one that is not finite."""
    tops = [0]

    def top(lo: int, hi: int) -> None:
        block = rows.compressed(lo, hi)[2][None, :] if isinstance(rows, SparseRows) else rows.block(lo, hi)
        pattern = int(runtime.module.raw_top(block))
        if pattern >= 255 << 23:
            check_row(rows, lo, int(np.flatnonzero(~np.isfinite(rows.block(lo, hi)).all(axis=1))[0]))
        tops.append(pattern)

    runtime.spread(rows.count, top, _rows_at_a_time(rows, _SUM_ROWS))
    return power_of(max(tops))


def power_of(top: int) -> int:
    """Return the power of two of a bit pattern that `raw_top` returned."""
    return (top >> 23) - 127


def _fit_column(rows: AnyRows, runtime: Runtime) -> Scale:
    """Return the scale of a single column: centred but not normalised, which would leave nothing but the sign.

    The centre is the median, and the scale fits nearly all distances from it, so that neither a large offset (a date)
    nor a few outliers use up the precision.
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
    """Return the exponent with which the largest |entry| of a column just fits 30 bits."""
    return 14 - top + _FINER_BITS


def column_fine(values: Array, finest: int) -> Array:
    """Return the entries `[n, 1]` of a column in units of 2^-finest, int32 `[n]`."""
    return np.rint(np.ldexp(values[:, 0].astype(np.float64), finest)).astype(np.int32)


def column_coarser(bits: Array, count: int) -> int:
    """Return how many bits to drop so that all but 1/128 of `count` entries are within 16 bits of the centre."""
    more = np.cumsum(bits[::-1])[::-1] * 128 > count  # whether 1/128 of the rows have so many bits or more
    return min(max(int(np.flatnonzero(more)[-1]) - 15, 0), _FINER_BITS)


def column_scale(finest: int, less: int, centre: int, squares: int, count: int) -> Scale:
    """Return the scale of a column from its median, the bits to drop and the squares of `count` distances."""
    middle = int(_rescaled(np.array([centre]), -less)[0]) if less else centre
    return Scale(finest - less, unit=False, centre=(middle,), spread=(math.isqrt(squares * 1024 // count),))


def distances(values: Array, centre: int, less: int) -> tuple[Array, int]:
    """Return the counts of distances from the centre by bit length, and the sum of squares without `less` low bits."""
    counts, squares = np.zeros(64, np.int64), 0
    for lo, hi in spans(values.shape[0], 1 << 20):
        off = np.abs(values[lo:hi].astype(np.int64) - centre)
        counts += np.bincount(np.frexp(off.astype(np.float64))[1], minlength=64)
        near = np.minimum(off >> less, 32767)
        squares += int((near * near).sum())
    return counts, squares
