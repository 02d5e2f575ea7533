"""How attribute rows become small integers: what `fit` learns, and the one place where floats of the data decide.

Statistics are order-independent integer sums, scales are powers of two: the same on every executor and any threads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lsprune.attributes import AnyRows, Part
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.kernels import Runtime, not_finite

SAMPLE = 1 << 14  # rows looked at to choose a scale
_ROWS, _SAMPLE_ROWS = 1 << 13, 1 << 12  # rows a thread takes at a time


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


def fit_scales(parts: Mapping[str, Part], *, unit: bool, runtime: Runtime) -> dict[str, Scale]:
    """The scale of each part: normalised, centred and scaled (`unit`), or raw values in one common fixed point."""
    done: dict[int, Scale] = {}
    for part in parts.values():
        if id(part.rows) not in done:
            fit = _fit_raw if not unit else _fit_column if part.rows.dim == 1 else _fit_unit
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
    sums = np.zeros((max(1, -(-rows.count // _ROWS)), rows.dim), np.int64)
    runtime.over_rows(rows, lambda block, lo, hi: kernels.unit_sums(block, sums[lo // _ROWS]), _ROWS)
    total, count = sums.sum(axis=0), max(rows.count, 1)
    centre = (2 * total + count) // (2 * count)  # rounded mean in 1/65536ths
    middle = centre.astype(np.int32)
    sample = _sample(rows)
    spans = max(1, -(-sample.size // _SAMPLE_ROWS))
    histograms, squares = np.zeros((spans, 64), np.int64), np.zeros((spans, rows.dim), np.int64)

    def spread(lo: int, hi: int) -> None:
        at = lo // _SAMPLE_ROWS
        kernels.unit_spread(rows.take(sample[lo:hi]), middle, histograms[at], squares[at])

    runtime.spread(sample.size, _SAMPLE_ROWS, spread)
    exponent = _finest(histograms.sum(axis=0))
    variance = squares.sum(axis=0) // max(sample.size, 1)
    return Scale(
        exponent=exponent,
        centre=tuple(_rescaled(int(value), exponent + 8 - 16) for value in centre),
        spread=tuple(_rescaled(math.isqrt(int(value)), exponent + 5 - 16) for value in variance),
    )


def _sample(rows: AnyRows) -> Array:
    """Up to SAMPLE row numbers, evenly spaced."""
    size = min(rows.count, SAMPLE)
    return np.arange(size, dtype=np.int64) * rows.count // max(size, 1)


def _finest(histogram: Array) -> int:
    """The exponent under which entries of more than 127 quanta hold at most 1/128 of the energy."""
    energy = [int(count) << (2 * size) for size, count in enumerate(histogram.tolist())]
    clipped, size = 0, len(energy) - 1
    while size > 0 and (clipped + energy[size]) * 128 <= sum(energy):
        clipped += energy[size]
        size -= 1
    return min(max(23 - size, 6), 20)


def _rescaled(value: int, bits: int) -> int:
    """value * 2^bits, rounded half up."""
    return value << bits if bits >= 0 else (value + (1 << (-bits - 1))) >> -bits


def _fit_raw(rows: AnyRows, runtime: Runtime) -> Scale:
    """Fixed point for raw values: the largest |entry| just fits 16 bits."""
    kernels = runtime.module
    tops = np.zeros(max(1, -(-rows.count // _ROWS)), np.int64)

    def top(block: Array, lo: int, hi: int) -> None:
        tops[lo // _ROWS] = kernels.raw_top(block)
        if tops[lo // _ROWS] >= 255 << 23:
            bad = int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
            raise not_finite(rows.name, block[bad], lo + bad)

    runtime.over_rows(rows, top, _ROWS)
    power = (int(tops.max()) >> 23) - 127
    return Scale(exponent=min(14 - power, 40), unit=False, centre=(0,) * rows.dim, spread=(0,) * rows.dim)


def _fit_column(rows: AnyRows, runtime: Runtime) -> Scale:
    """A single column is centred and scaled but not normalised: its L2 norm would leave nothing but the sign."""
    scale = _fit_raw(rows, runtime)
    block = rows.take(_sample(rows))
    quanta = np.zeros(block.shape, np.int16)
    runtime.module.quanta(block, False, scale.exponent, np.zeros(1, np.int32), quanta)
    values = [int(value) for value in quanta[:, 0]]
    count = max(len(values), 1)
    centre = (2 * sum(values) + count) // (2 * count)
    spread = math.isqrt(sum((value - centre) ** 2 for value in values) * 1024 // count)
    return replace(scale, centre=(centre,), spread=(spread,))
