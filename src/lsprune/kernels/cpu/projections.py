"""Dot products of quantised attribute rows with the weights of the hash functions."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.cpu.intrinsics import dots, weighted_sum_8, weighted_sum_16
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.quantisation import NOT_FINITE, POWERS, largest, row_quanta, unit_factor, unit_quanta

MAX_NARROW_COLUMNS = 24  # up to so many columns, sums are fastest with all functions side by side


def project(x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array) -> int:
    """Set out[row, z] to <integers of the row, weights[z]>. Return the first row that is not finite, or -1.

    `out` is int32 for L2-normalised rows whose sums fit, else int64.
    """
    if out.dtype == np.int32:
        return int(project_unit(x, exponent, centre, _padded(weights, out.shape[1]), out))
    return int(project_wide(x, unit, exponent, centre, weights, out))


def project_quanta(q: Array, weights: Array, out: Array) -> None:
    """Set out[row, z] to <q[row], weights[z]>, for rows that are integers already, q[R, d] int8."""
    if q.shape[1] > MAX_NARROW_COLUMNS:
        project_padded(q, _padded(weights, out.shape[1]), out)
        return
    columns = np.zeros((q.shape[1], out.shape[1]), np.int32)
    columns[:, : weights.shape[0]] = weights.T
    project_narrow(q, columns, out)


def _padded(weights: Array, functions: int) -> Array:
    """Return the weights with zeros up to `functions` rows and a multiple of 32 columns, for vector instructions."""
    padded = np.zeros((functions, -(-weights.shape[1] // 32) * 32), np.int16)
    padded[: weights.shape[0], : weights.shape[1]] = weights
    return padded


@kernel
def project_unit(x, exponent, centre, weights, out):
    """Do what `project` does, with int32 sums, for L2-normalised rows and weights that `_padded` returned, int16.

    Exact: |q|, |w| <= 127 and d <= 2^17 keep every partial sum below 2^31, in any order of addition.
    """
    bits = x.view(np.int32)
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
    """Set out[row, z] to <q[row], columns[:, z]>, for rows of few columns."""
    if columns.shape[1] == 8:
        for row in range(q.shape[0]):
            weighted_sum_8(q, columns, out, row)
    else:
        for row in range(q.shape[0]):
            weighted_sum_16(q, columns, out, row)


@kernel
def project_padded(q, weights, out):
    """Set out[row, z] to <q[row], weights[z]>, with weights that `_padded` returned."""
    padded = np.zeros(weights.shape[1], np.int16)
    for row in range(q.shape[0]):
        for j in range(q.shape[1]):
            padded[j] = q[row, j]
        for first in range(0, weights.shape[0], 8):
            dots(padded, weights, first, weights.shape[1] // 32, out, row)


@kernel
def project_wide(x, unit, exponent, centre, weights, out):
    """Do what `project` does, with int64 sums, for raw rows, wide weights and very many columns."""
    bits, dim = x.view(np.int32), x.shape[1]
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
def entry_quantum(value, unit, factor, exponent, centre):
    """Return the integer of one entry, as `unit_quanta` and `raw_quanta` compute it."""
    if unit:
        fine = np.int32(value * factor)
        quantum = np.int32(np.int32(fine - centre + np.int32(128)) >> np.int32(8))
        return np.int64(min(max(quantum, np.int32(-127)), np.int32(127)))
    whole = np.rint(np.float64(value) * POWERS[exponent + 200]) - centre
    return np.int64(min(max(whole, -32767.0), 32767.0))


@kernel
def project_sparse(indptr, indices, x, unit, exponent, centre, weights, out):
    """Do what `project` does, for CSR rows: the sums of a row of zeros, plus what each stored entry changes."""
    bits, count = x.view(np.int32), weights.shape[0]
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
