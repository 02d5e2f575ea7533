"""Attribute rows as small integers, and the statistics that their scale is chosen from."""

from __future__ import annotations

import math

import numpy as np

from lsprune.graph import Array


def quanta_of(row: list[float], unit: bool, exponent: int, centre: list[int]) -> list[int]:
    """Return the integers of one row: in +-127 for L2-normalised (`unit`) rows, in +-32767 for raw ones."""
    if not unit:
        whole = [round(value * 2.0**exponent) - middle for value, middle in zip(row, centre, strict=True)]
        return [max(-32767, min(32767, value)) for value in whole]
    fine = unit_fine(row, exponent)
    return [max(-127, min(127, (value - middle + 128) >> 8)) for value, middle in zip(fine, centre, strict=True)]


def unit_fine(row: list[float], exponent: int) -> list[int]:
    """Divide each entry by the L2 norm of the row; return it in units of 2^-(exponent + 8), cut towards zero."""
    top = max((abs(value) for value in row), default=0.0)
    power = math.frexp(top)[1] - 1 if top else -200
    if power < -96:
        return [0] * len(row)
    squares = sum(int(value * 2.0 ** (14 - power)) ** 2 for value in row)
    factor = np.float32(math.ldexp(1.0 / math.sqrt(squares), 14 - power + exponent + 8))
    return [int(np.float32(value) * factor) for value in row]


def rows_of(x: Array) -> list[list[float]]:
    """Return the rows as lists of Python floats."""
    return [[float(value) for value in row] for row in x]


def bad_row(x: Array) -> int:
    """Return the first row with a value that is not finite, or -1."""
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    return int(bad[0]) if bad.size else -1


def unit_sums(x: Array, sums: Array) -> int:
    """Add the L2-normalised rows to `sums`, in units of 2^-16. Return the first row that is not finite, or -1."""
    if (bad := bad_row(x)) < 0:
        for row in rows_of(x):
            sums += np.array(unit_fine(row, 8), np.int64)
    return bad


def unit_spread(x: Array, centre: Array, histogram: Array, squares: Array) -> None:
    """Count the bit lengths of |entry - centre| and add up their squares by column, in units of 2^-16."""
    for row in rows_of(x):
        for j, value in enumerate(unit_fine(row, 8)):
            away = abs(value - int(centre[j]))
            histogram[away.bit_length()] += 1
            squares[j] += away * away


def raw_top(x: Array) -> int:
    """Return the largest |entry| as the bit pattern of a float32: 255 << 23 or more if one is not finite."""
    return int((x.view(np.int32) & 0x7FFFFFFF).max(initial=0))


def quanta(x: Array, unit: bool, exponent: int, centre: Array, out: Array) -> int:
    """Fill `out` with the integers of every row. Return the first row that is not finite, or -1."""
    if (bad := bad_row(x)) < 0:
        for i, row in enumerate(rows_of(x)):
            out[i] = quanta_of(row, unit, exponent, centre.tolist())
    return bad


def dense_rows(indptr: Array, indices: Array, x: Array, dim: int) -> Array:
    """Return CSR rows as a dense array."""
    rows = np.zeros((len(indptr) - 1, dim), np.float32)
    rows[np.repeat(np.arange(len(rows)), np.diff(indptr)), indices] = x
    return rows


def sparse_sums(indptr: Array, indices: Array, x: Array, sums: Array) -> int:
    """Do what `unit_sums` does, for CSR rows."""
    return unit_sums(dense_rows(indptr, indices, x, sums.shape[0]), sums)
