"""Attribute rows as small integers, and what is computed from them in the same pass over a row.

Two ways to integers (the reference says the same in plain Python):

- *unit* rows: the row's largest entry picks a power of two that makes every entry a 16-bit integer; their squares
  are summed exactly, so the L2 norm is the same in any order; each entry is multiplied once by a float32 factor and
  cut to an integer (one rounding, nothing to contract or reorder), then centred, rounded and clipped to +-127.
- *raw* rows: clip(rint(x * 2^exponent) - centre, +-32767), the fixed point of the paper's presets (centre 0).

A non-finite entry shows as an exponent of 255 in the largest bit pattern: finding it costs nothing.
"""

from __future__ import annotations

import math

import numpy as np

from lsprune.kernels.cpu.intrinsics import dots, weighted_sum_8, weighted_sum_16
from lsprune.kernels.cpu.jit import kernel

NOT_FINITE = 0x7F800000
POWERS = 2.0 ** np.arange(-200, 201)  # a look-up is faster than ldexp
TINY = -96  # a row whose largest entry is below 2^TINY is a row of zeros: its factor would not fit a float32


@kernel
def largest(bits):
    """The largest |entry| of a row of float32, as its bit pattern (ordered like the numbers)."""
    top = np.int32(0)
    for j in range(bits.shape[0]):
        top = np.int32(max(top, np.int32(bits[j] & np.int32(0x7FFFFFFF))))
    return top


@kernel
def unit_factor(x, top, exponent):
    """What turns an entry of the row into units of 2^-(exponent + 8) after division by the L2 norm, as float32."""
    power = (top >> 23) - 127  # largest entry is in [2^power, 2^(power+1))
    if power < TINY:
        return np.float32(0)
    up = np.float32(POWERS[14 - power + 200])
    squares = np.int64(0)
    for j in range(x.shape[0]):
        value = np.int32(x[j] * up)
        squares += np.int64(value) * np.int64(value)
    return np.float32(POWERS[14 - power + exponent + 8 + 200] / math.sqrt(np.float64(squares)))


@kernel
def unit_sums(x, bits, sums):
    """Add to `sums[j]` column j of the unit rows in 1/65536ths; the first row that is not finite, or -1."""
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
def unit_spread(x, bits, centre, histogram, squares):
    """Count the bit lengths of |entry - centre| (1/65536ths) and add the squares of each column."""
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
def unit_quanta(x, bits, row, exponent, centre, q):
    """Fill q with the row's integers in +-127; False when the row is not finite."""
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
def raw_top(x, bits):
    """The largest |entry| as a bit pattern."""
    top = np.int32(0)
    for row in range(x.shape[0]):
        top = np.int32(max(top, largest(bits[row])))
    return top


@kernel
def raw_quanta(x, bits, row, exponent, centre, q):
    """Fill q with the row's fixed-point integers less the centre, in +-32767; False when the row is not finite."""
    if largest(bits[row]) >= NOT_FINITE:
        return False
    up = POWERS[exponent + 200]
    for j in range(centre.shape[0]):
        value = np.rint(np.float64(x[row, j]) * up) - centre[j]
        q[j] = min(max(value, -32767.0), 32767.0)
    return True


@kernel
def row_quanta(x, bits, row, unit, exponent, centre, q):
    """Fill q with the integers of a row; False when it is not finite."""
    if unit:
        return unit_quanta(x, bits, row, exponent, centre, q)
    return raw_quanta(x, bits, row, exponent, centre, q)


@kernel
def quanta(x, bits, unit, exponent, centre, out):
    """The integers of every row, out[R, d] int16; the first row that is not finite, or -1."""
    for row in range(x.shape[0]):
        if not row_quanta(x, bits, row, unit, exponent, centre, out[row]):
            return row
    return -1


@kernel
def project_unit(x, bits, exponent, centre, weights, out):
    """out[row, z] = <q(row), weights[z]> as int32 for unit rows; the first row that is not finite, or -1.

    weights [8 or 16, columns padded to a multiple of 32] int16. Exact: |q|, |w| <= 127 and d <= 2^17 keep every partial
    sum below 2^31, in any order of addition.
    """
    padded = np.zeros(weights.shape[1], np.int16)
    q = padded[: x.shape[1]]
    for row in range(x.shape[0]):
        if not unit_quanta(x, bits, row, exponent, centre, q):
            return row
        for first in range(0, weights.shape[0], 8):
            dots(padded, weights, first, weights.shape[1] // 32, out, row)
    return -1


@kernel
def project_narrow(q, columns, out):
    """out[row, z] = <q[row], columns[:, z]> for rows of few columns that are integers already, q[R, d] int8."""
    if columns.shape[1] == 8:
        for row in range(q.shape[0]):
            weighted_sum_8(q, columns, out, row)
    else:
        for row in range(q.shape[0]):
            weighted_sum_16(q, columns, out, row)


@kernel
def project_quanta(q, weights, out):
    """The same for any number of columns; weights as in `project_unit`."""
    padded = np.zeros(weights.shape[1], np.int16)
    for row in range(q.shape[0]):
        for j in range(q.shape[1]):
            padded[j] = q[row, j]
        for first in range(0, weights.shape[0], 8):
            dots(padded, weights, first, weights.shape[1] // 32, out, row)


@kernel
def project_wide(x, bits, unit, exponent, centre, weights, out):
    """As `project_unit` with int64 sums, for raw rows, wide weights and very many columns."""
    dim = x.shape[1]
    q = np.empty(dim, np.int16)
    for row in range(x.shape[0]):
        if not row_quanta(x, bits, row, unit, exponent, centre, q):
            return row
        for z in range(weights.shape[0]):
            total = np.int64(0)
            for j in range(dim):
                total += np.int64(q[j]) * np.int64(weights[z, j])
            out[row, z] = total
    return -1


@kernel
def signature(x, bits, unit, exponent, centre, entry, threshold, code, out):
    """out[row, z] = sum mod 2^64 of code[z, i] over the i with q[entry[z, i]] > threshold[z, i]; bad row or -1."""
    dim = x.shape[1]
    q = np.empty(dim, np.int16)
    for row in range(x.shape[0]):
        if not row_quanta(x, bits, row, unit, exponent, centre, q):
            return row
        for z in range(entry.shape[0]):
            total = np.uint64(0)
            for i in range(entry.shape[1]):
                if q[entry[z, i]] > threshold[z, i]:
                    total += code[z, i]
            out[row, z] = total
    return -1


@kernel
def sparse_sums(indptr, indices, x, bits, sums):
    """As `unit_sums` for CSR rows: an absent entry is 0 and adds nothing."""
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
def entry_quantum(value, unit, factor, exponent, centre):
    """The integer of one entry: what `unit_quanta` and `raw_quanta` say, for one column."""
    if unit:
        fine = np.int32(value * factor)
        quantum = np.int32(np.int32(fine - centre + np.int32(128)) >> np.int32(8))
        return np.int64(min(max(quantum, np.int32(-127)), np.int32(127)))
    whole = np.rint(np.float64(value) * POWERS[exponent + 200]) - centre
    return np.int64(min(max(whole, -32767.0), 32767.0))


@kernel
def project_sparse(indptr, indices, x, bits, unit, exponent, centre, weights, out):
    """As `project_wide` for CSR rows: the sum over a row of zeros, and for each entry what it changes."""
    count = weights.shape[0]
    zero = np.empty(centre.shape[0], np.int64)
    empty = np.zeros(count, np.int64)
    for j in range(centre.shape[0]):
        zero[j] = entry_quantum(np.float32(0), unit, np.float32(0), exponent, centre[j])
        for z in range(count):
            empty[z] += zero[j] * weights[z, j]
    for row in range(indptr.shape[0] - 1):
        start, stop = indptr[row], indptr[row + 1]
        top = largest(bits[start:stop])
        if top >= NOT_FINITE:
            return row
        factor = unit_factor(x[start:stop], top, exponent) if unit else np.float32(0)
        for z in range(count):
            out[row, z] = empty[z]
        for e in range(start, stop):
            j = indices[e]
            change = entry_quantum(x[e], unit, factor, exponent, centre[j]) - zero[j]
            for z in range(count):
                out[row, z] += change * weights[z, j]
    return -1
