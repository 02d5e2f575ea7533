"""Scales of attribute rows that are tensors on a device: the same integers as `numeric.quantisation` finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.attributes import DenseRows
from lsprune.kernels import not_finite
from lsprune.kernels.gpu import quantisation as kernels
from lsprune.numeric.quantisation import (
    Sample,
    Scale,
    column_coarser,
    column_finest,
    column_scale,
    power_of,
    raw_scale,
    unit_centre,
    unit_scale,
)


def fit_unit(rows: DenseRows) -> Scale:
    """Return the scale of unit rows; see `numeric.quantisation`."""
    x: Any = rows.values
    sample, columns = Sample.of(rows.name, rows.count, rows.dim), rows.dim
    numbers = kernels.unit_statistics(x, sample.size).cpu().numpy()
    sums, squares, counts, bad = np.split(numbers, [columns, 2 * columns, 2 * columns + 64])
    _check(rows, rows.count - int(bad[0]))
    return unit_scale(unit_centre(sums, rows.count), counts, squares, sample.size)


def fit_raw(rows: DenseRows) -> Scale:
    """Return the fixed point for raw values in which the largest |entry| just fits 16 bits."""
    return raw_scale(_top_power(rows), rows.dim)


def fit_column(rows: DenseRows) -> Scale:
    """Return the scale of a single column."""
    sample, finest = Sample.of(rows.name, rows.count, 1), column_finest(_top_power(rows))
    if not sample.size:
        return Scale(finest, unit=False, centre=(0,), spread=(0,))
    x: Any = rows.values
    ids = torch.from_numpy(sample.rows(0, sample.size)).to(x.device)
    fine = torch.round(x[ids][:, 0].float().double() * 2.0**finest).long()
    centre = int(fine.sort().values[sample.size // 2])
    away = (fine - centre).abs()
    less = column_coarser(kernels.bit_length_counts(away).cpu().numpy(), sample.size)
    near: Tensor = (away >> less).clamp(max=32767)
    return column_scale(finest, less, centre, int((near * near).sum()), sample.size)


def _top_power(rows: DenseRows) -> int:
    x: Any = rows.values
    top = int(kernels.raw_top(x))
    if top >= kernels.NOT_FINITE:
        _check(rows, int(kernels.first_bad_row(x)))
    return power_of(top)


def _check(rows: DenseRows, bad: int) -> None:
    if bad < rows.count:
        row: Any = rows.values[bad]
        raise not_finite(rows.name, row.float().cpu().numpy(), bad)
