"""Weighted sampling without replacement, in integers and so the same on every executor.

Item e has the exponential time -log(U_e) / w_e, and the items with the smallest times are kept: one after the other,
each is drawn with a probability proportional to its weight among those left. Only the order of the times matters, so
the key is their logarithm in fixed point, log2(-log2 U) - log2 w, from an integer log2: no result depends on a
platform's log.
"""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import Runtime, plain
from lsprune.numeric.random_numbers import is_tensor

FRACTION_BITS = 32  # of a logarithm
LOG_KEY_BITS = 18
LOG_KEY_UNIT = 1 << LOG_KEY_BITS  # keys that weights are added to are log2 of a time, in 1 / LOG_KEY_UNIT
EXACT_LOG_UNIT = 1 << FRACTION_BITS  # keys that are logarithms of weights and nothing else


def log2(values: Array, runtime: Runtime) -> Array:
    """Return log2 of whole numbers >= 1 in fixed point with FRACTION_BITS bits of fraction, int64."""
    if is_tensor(values):
        tensor: Array = import_module("lsprune.kernels.gpu.logarithms").log2_fixed(values)
        return tensor
    numbers, out = plain(values.astype(np.uint64, copy=False)), np.empty(values.shape[0], np.int64)
    runtime.spread(out.shape[0], lambda lo, hi: runtime.module.log2_fixed(numbers, lo, hi, out))
    return out


def log_times(draws: Array, log_weight: Array, runtime: Runtime) -> Array:
    """Return log2 of the time of each item, int64, from uint64 draws (U = draw / 2^64) and log2 of the weights.

    Draws that are a tensor are int64 with the same bits.
    """
    one = 1 if is_tensor(draws) else np.uint64(1)
    minus_log = (64 << FRACTION_BITS) - log2(draws | one, runtime)  # at least 1: log2 is rounded down
    times: Array = log2(minus_log, runtime) - log_weight
    return times


def inverse_chances(limits: Array, unit: int) -> Array:
    """Return 1 / P(key < limit) as float32 for the key of an item of weight 1, whole numbers in 1 / unit.

    The key is log2 of a whole number n: -log2 U in units of 2^-32, rounded up. It is below the limit if n is at most
    the largest whole number below 2^limit, so the rounding of keys adds no bias.

    >>> half = FRACTION_BITS * LOG_KEY_UNIT + 1  # n is at most 2^32 if U is at least a half
    >>> round(float(inverse_chances(np.array([half]), LOG_KEY_UNIT)[0]), 4)
    2.0
    """
    with np.errstate(over="ignore"):  # of a limit that every key is below
        most = np.maximum(np.ceil(np.exp2(limits / unit)) - 1, 1)
    chances = -np.expm1(most * (-math.log(2) / (1 << FRACTION_BITS)))
    return np.asarray((1 / chances).astype(np.float32))
