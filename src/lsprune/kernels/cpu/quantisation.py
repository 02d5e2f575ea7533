"""Attribute rows as small integers, and the statistics that their scale is chosen from.

Two ways to integers (`reference.quantisation` says the same in plain Python):

- *unit* rows: the row's largest entry picks a power of two that makes every entry a 16-bit integer. Their squares are
  summed exactly, so the L2 norm is the same in any order. Each entry is multiplied once by a float32 factor and cut to
  an integer (one rounding, nothing to contract or reorder), then centred, rounded and clipped to +-127.
- *raw* rows: clip(rint(x * 2^exponent) - centre, +-32767), the fixed point of the paper's presets (centre 0).

A value that is not finite shows as an exponent of 255 in the largest bit pattern, so the test for it is free.
"""

from __future__ import annotations

import math

import numpy as np

from lsprune.kernels.cpu.jit import kernel

NOT_FINITE = 0x7F800000  # the bit pattern of infinity; those of NaN are larger
POWERS = 2.0 ** np.arange(-200, 201)  # a look-up is faster than ldexp
LEAST_POWER = -96  # a row whose largest entry is below 2^-96 is a row of zeros: its factor would not fit a float32


@kernel
def largest(bits):
    """Return the largest |entry| of a row of float32 as its bit pattern, which is ordered like the numbers."""
    top = np.int32(0)
    for j in range(bits.shape[0]):
        top = np.int32(max(top, np.int32(bits[j] & np.int32(0x7FFFFFFF))))
    return top


@kernel
def unit_factor(x, top, exponent):
    """Return the float32 factor that L2-normalises an entry of the row, in units of 2^-(exponent + 8)."""
    power = (top >> 23) - 127  # largest entry is in [2^power, 2^(power+1))
    if power < LEAST_POWER:
        return np.float32(0)
    up = np.float32(POWERS[14 - power + 200])
    squares = np.int64(0)
    for j in range(x.shape[0]):
        value = np.int32(x[j] * up)
        squares += np.int64(value) * np.int64(value)
    return np.float32(POWERS[14 - power + exponent + 8 + 200] / math.sqrt(np.float64(squares)))


@kernel
def unit_sums(x, sums):
    """Add the L2-normalised rows to `sums`, in units of 2^-16. Return the first row that is not finite, or -1."""
    bits = x.view(np.int32)
    dim = x.shape[1]
    part = np.zeros(dim, np.int32)
    for row in range(x.shape[0]):
        top = largest(bits[row])
        if top >= NOT_FINITE:
            return row
        factor = unit_factor(x[row], top, 8)
        for j in range(dim):
            part[j] += np.int32(x[row, j] * factor)
        if row & 16383 == 16383:  # |entry| <= 2^16, so 2^14 rows fit an int32
            for j in range(dim):
                sums[j] += part[j]
                part[j] = 0
    for j in range(dim):
        sums[j] += part[j]
    return -1


@kernel
def sparse_sums(indptr, indices, x, sums):
    """Do what `unit_sums` does, for CSR rows: an absent entry is 0 and adds nothing."""
    bits = x.view(np.int32)
    for row in range(indptr.shape[0] - 1):
        start, stop = indptr[row], indptr[row + 1]
        top = largest(bits[start:stop])
        if top >= NOT_FINITE:
            return row
        factor = unit_factor(x[start:stop], top, 8)
        for e in range(start, stop):
            sums[indices[e]] += np.int32(x[e] * factor)
    return -1


@kernel
def unit_spread(x, centre, histogram, squares):
    """Count the bit lengths of |entry - centre| and add up their squares by column, in units of 2^-16."""
    bits = x.view(np.int32)
    dim = x.shape[1]
    size = np.empty(dim, np.float32)
    pattern = size.view(np.int32)
    for row in range(x.shape[0]):
        factor = unit_factor(x[row], largest(bits[row]), 8)
        for j in range(dim):
            away = np.int32(np.int32(x[row, j] * factor) - centre[j])
            squares[j] += np.int64(away) * np.int64(away)
            size[j] = abs(away)  # exact below 2^24, so its exponent is the bit length
        for j in range(dim):
            histogram[max(np.int64(pattern[j] >> 23) - 126, np.int64(0))] += 1


@kernel
def raw_top(x):
    """Return the largest |entry| as a bit pattern: NOT_FINITE or more if one is not finite."""
    bits = x.view(np.int32)
    top = np.int32(0)
    for row in range(x.shape[0]):
        top = np.int32(max(top, largest(bits[row])))
    return top


@kernel
def unit_quanta(x, bits, row, exponent, centre, q):
    """Fill q with the integers of a row, in +-127; return False if the row is not finite."""
    top = largest(bits[row])
    if top >= NOT_FINITE:
        return False
    factor = unit_factor(x[row], top, exponent)
    for j in range(q.shape[0]):
        fine = np.int32(x[row, j] * factor)
        value = np.int32(np.int32(fine - centre[j] + np.int32(128)) >> np.int32(8))
        q[j] = min(max(value, np.int32(-127)), np.int32(127))
    return True


@kernel
def raw_quanta(x, bits, row, exponent, centre, q):
    """Fill q with the fixed-point integers of a row, in +-32767; return False if the row is not finite."""
    if largest(bits[row]) >= NOT_FINITE:
        return False
    up = POWERS[exponent + 200]
    for j in range(centre.shape[0]):
        value = np.rint(np.float64(x[row, j]) * up) - centre[j]
        q[j] = min(max(value, -32767.0), 32767.0)
    return True


@kernel
def row_quanta(x, bits, row, unit, exponent, centre, q):
    """Fill q with the integers of a row; return False if it is not finite."""
    if unit:
        return unit_quanta(x, bits, row, exponent, centre, q)
    return raw_quanta(x, bits, row, exponent, centre, q)


@kernel
def quanta(x, unit, exponent, centre, out):
    """Fill out[R, d], int16, with the integers of every row. Return the first row that is not finite, or -1."""
    bits = x.view(np.int32)
    for row in range(x.shape[0]):
        if not row_quanta(x, bits, row, unit, exponent, centre, out[row]):
            return row
    return -1
