"""Logarithms of integers in fixed point."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel


@kernel
def log2_fixed(values, lo, hi, out):
    """Set out[i] to log2(values[i]) * 2^32 for the uint64 values lo..hi; -2^32 for 0.

    The top 32 bits of the value are squared 32 times: each time the result reaches 2, it is halved and gives a 1. The
    result is rounded down, to within a few units.
    """
    for i in range(lo, hi):
        value, whole = values[i], np.int64(63)
        while value < np.uint64(1 << 63) and whole >= 0:
            value <<= np.uint64(1)
            whole -= 1
        mantissa = value >> np.uint64(32)
        for _ in range(32):
            mantissa = (mantissa * mantissa) >> np.uint64(31)
            bit = mantissa >> np.uint64(32)
            mantissa >>= bit
            whole = (whole << 1) + np.int64(bit)
        out[i] = whole
