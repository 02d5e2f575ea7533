"""Logarithms of integers in fixed point."""

from __future__ import annotations

from lsprune.graph import Array


def log2_fixed(values: Array, lo: int, hi: int, out: Array) -> None:
    """Set out[i] to log2(values[i]) * 2^32, by squaring the top 32 bits of the value 32 times; -2^32 for 0."""
    for i in range(lo, hi):
        value = int(values[i])
        whole = value.bit_length() - 1
        mantissa = (value << (63 - whole)) >> 32
        for _ in range(32):
            mantissa = (mantissa * mantissa) >> 31
            bit = mantissa >> 32
            mantissa >>= bit
            whole = 2 * whole + bit
        out[i] = whole
