"""Attribute rows as small integers, and the statistics that their scale is chosen from, with torch."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lsprune.kernels.gpu.triton_support import triton_kernels

CHUNK_VALUES = 1 << 24  # attribute values worked on at a time, to bound memory
NOT_FINITE = 255 << 23  # bit patterns of float32 from here on are infinities and NaN
_SUM_EXPONENT = 8  # of the units in which statistics are summed, beyond the 8 bits that `unit_fine` has
_MIN_POWER = -96  # rows whose largest entry is below 2^-96 count as zero


def row_chunks(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Iterate over ranges of rows with at most CHUNK_VALUES values."""
    size = max(CHUNK_VALUES // max(columns, 1), 1)
    return ((lo, min(lo + size, rows)) for lo in range(0, rows, size))


def magnitudes(x: Tensor) -> Tensor:
    """Return the bit patterns of |x|, int32: they are in the order of the numbers."""
    return x.contiguous().view(torch.int32) & 0x7FFFFFFF


def first_bad_row(x: Tensor) -> Tensor:
    """Return the number of the first row with an entry that is not finite, or the number of rows; on the device."""
    rows, first = x.shape[0], torch.full((), x.shape[0], dtype=torch.int64, device=x.device)
    for lo, hi in row_chunks(rows, x.shape[1] if x.shape[1] else 1):
        bad = (~torch.isfinite(x[lo:hi].float())).any(1)
        place = torch.where(bad, torch.arange(lo, hi, device=x.device), rows)
        first = torch.minimum(first, place.min())
    return first


def bad_rows(x: Tensor) -> Tensor:
    """Return for each row whether an entry is not finite."""
    out = torch.zeros(x.shape[0], dtype=torch.bool, device=x.device)
    for lo, hi in row_chunks(*x.shape):
        out[lo:hi] = (~torch.isfinite(x[lo:hi].float())).any(1)
    return out


def unit_fine(x: Tensor, exponent: int) -> Tensor:
    """Divide float32 rows by their L2 norms; return int32 in units of 2^-(exponent + 8), cut towards zero."""
    if not x.shape[1]:
        return x.int()
    power = (magnitudes(x).amax(1) >> 23) - 127
    tiny, power = power < _MIN_POWER, power.clamp(min=_MIN_POWER, max=127)
    whole = (x * _float32_power(14 - power)[:, None]).int()
    squares = (whole.long() * whole).sum(1)
    factor = (1.0 / squares.double().sqrt()) * _float64_power(14 - power + exponent + 8)
    return torch.where(tiny[:, None], 0, x * factor.float()[:, None]).int()


def _float32_power(exponent: Tensor) -> Tensor:
    """Return 2^exponent exactly, from its bits."""
    return ((exponent.int() + 127) << 23).view(torch.float32)


def _float64_power(exponent: Tensor) -> Tensor:
    return ((exponent.long() + 1023) << 52).view(torch.float64)


def quanta(x: Tensor, unit: bool, exponent: int, centre: Tensor) -> Tensor:
    """Return the integers of float32 rows, int32: in +-127 for L2-normalised (`unit`) rows, in +-32767 for raw ones."""
    if unit:
        return ((unit_fine(x, exponent) - centre + 128) >> 8).clamp(-127, 127)
    scaled = (x.double() * 2.0**exponent).nan_to_num().clamp(-(2.0**40), 2.0**40)
    return (torch.round(scaled).long() - centre).clamp(-32767, 32767).int()


def unit_statistics(x: Tensor, sample: int) -> Tensor:
    """Return all that the scale of L2-normalised rows is chosen from, in one tensor that is read in one transfer.

    The columns' sums and, of `sample` evenly spaced rows, the sums of squares of |entry - mean| by column; how often
    each bit length of |entry - mean| occurs there, `[64]`; and how far from the end the first row is that is not
    finite, 0 without one. `[2 * columns + 65]` int64, entries in units of 2^-16.
    """
    kernels = triton_kernels("quantisation_triton", x.device) if x.numel() else None
    if kernels is not None:
        found: Tensor = kernels.unit_statistics(x, _SUM_EXPONENT, sample)
        return found
    rows, sums = x.shape[0], unit_sums(x)
    centre = (2 * sums + rows) // (2 * max(rows, 1))  # as in `numeric.quantisation.unit_centre`
    ids = torch.arange(sample, device=x.device) * rows // max(sample, 1)
    counts, squares = unit_spread(x[ids], centre)
    return torch.cat([sums, squares, counts, (rows - first_bad_row(x))[None]])


def unit_sums(x: Tensor) -> Tensor:
    """Return the column sums of the L2-normalised rows, `[columns]` int64 in units of 2^-16."""
    sums = torch.zeros(x.shape[1], dtype=torch.int64, device=x.device)
    for lo, hi in row_chunks(*x.shape):
        sums += unit_fine(x[lo:hi].float(), _SUM_EXPONENT).sum(0, dtype=torch.int64)
    return sums


def unit_spread(x: Tensor, centre: Tensor) -> tuple[Tensor, Tensor]:
    """Count the bit lengths of |entry - centre|, `[64]`, and add up their squares by column, in units of 2^-16."""
    counts = torch.zeros(64, dtype=torch.int64, device=x.device)
    squares = torch.zeros(x.shape[1], dtype=torch.int64, device=x.device)
    for lo, hi in row_chunks(*x.shape):
        away = (unit_fine(x[lo:hi].float(), _SUM_EXPONENT) - centre).abs().long()
        counts += bit_length_counts(away)
        squares += (away * away).sum(0)
    return counts, squares


def bit_length_counts(values: Tensor) -> Tensor:
    """Count whole numbers >= 0 by their bit lengths, `[64]`."""
    lengths = torch.frexp(values.double().reshape(-1))[1]
    return torch.zeros(64, dtype=torch.int64, device=values.device).index_add_(
        0, lengths.long(), torch.ones_like(lengths, dtype=torch.int64)
    )


def raw_top(x: Tensor) -> Tensor:
    """Return the largest |entry| as the bit pattern of a float32: NOT_FINITE or more if one is not finite."""
    top = torch.zeros((), dtype=torch.int32, device=x.device)
    for lo, hi in row_chunks(*x.shape):
        if x[lo:hi].numel():
            top = torch.maximum(top, magnitudes(x[lo:hi].float()).amax())
    return top
