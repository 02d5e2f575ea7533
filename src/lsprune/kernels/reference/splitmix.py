"""splitmix64, the mixing function behind every random choice."""

from __future__ import annotations

from lsprune.numeric.random_numbers import FIRST_FACTOR, GOLDEN, SECOND_FACTOR

MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """Return splitmix64 of a 64-bit integer."""
    value = (value + GOLDEN) & MASK
    value = ((value ^ (value >> 30)) * FIRST_FACTOR) & MASK
    value = ((value ^ (value >> 27)) * SECOND_FACTOR) & MASK
    return value ^ (value >> 31)
