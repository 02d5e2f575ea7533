"""Sampling without replacement by weight: an exponential race in integers, the same on every executor.

Item e finishes at -log(U_e) / w_e, and the first to log_times are kept: one after the other, each is drawn with a
probability proportional to its weight among those left. Only the order counts, so the key is the logarithm of that time
in fixed point, log2(-log2 U) - log2 w, from an integer log2: no platform's log takes part.
"""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import Runtime, plain

FRACTION_BITS = 32  # of a logarithm
LOG_KEY_BITS = 18
LOG_KEY_UNIT = 1 << LOG_KEY_BITS  # keys that weights can be added to are logarithms to base 2 in units of this


def log2(values: Array, runtime: Runtime) -> Array:
    """log2 of whole numbers >= 1 in fixed point with 32 bits of fraction, int64."""
    numbers, out = plain(values.astype(np.uint64, copy=False)), np.empty(values.shape[0], np.int64)
    runtime.spread(out.shape[0], lambda lo, hi: runtime.module.log2_fixed(numbers, lo, hi, out))
    return out


def log_times(draws: Array, log_weight: Array, runtime: Runtime) -> Array:
    """The logarithm of each item's time in the race, int64: uint64 draws as U = draw / 2^64, log2 of the weights."""
    minus_log = (64 << FRACTION_BITS) - log2(draws | np.uint64(1), runtime)  # at least 1: log2 is rounded down
    return np.asarray(log2(minus_log, runtime) - log_weight)
