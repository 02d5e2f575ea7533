"""The counter-based generator behind every random choice: splitmix64 of (seed, purpose, counter, ...).

It has no state: a value depends on its counters alone, so any executor may compute any part in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.graph import Array

GOLDEN = 0x9E3779B97F4A7C15  # constants of splitmix64
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
_MASK = (1 << 64) - 1

# The purposes of a draw: the first counter, so that no two uses share a value.
TIE, OWNER, WEIGHT, ENTRY, OFFSET, THRESHOLD, CODE, AFFINE, CATEGORY, EDGE, IDENTITY = range(1, 12)
WORD, SAMPLE, TWIN, SIGN, SHAPE, NOISE, PROJECT, MINHASH, TREE, PAIR = range(12, 22)


def mix64(value: Array) -> Array:
    """Return splitmix64 of each uint64."""
    with np.errstate(over="ignore"):
        value = value + np.uint64(GOLDEN)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
        return np.asarray(value ^ (value >> np.uint64(31)))


def draw(seed: int, *counters: Any) -> Array:
    """Return uint64 draws for the counters: integers or integer arrays that broadcast.

    >>> int(draw(0, 1, 2)) == int(draw(0, 1, [2, 3])[0])
    True
    """
    value = mix64(np.asarray(seed & _MASK, dtype=np.uint64))
    for counter in counters:
        numbers = np.asarray(counter)
        if numbers.dtype != np.uint64:
            numbers = np.atleast_1d(numbers).astype(np.int64).view(np.uint64).reshape(numbers.shape)
        value = mix64(value ^ numbers)
    return value


def below(values: Array, bound: int) -> Array:
    """Turn each draw into an integer in [0, bound), bound <= 2^32: the high half of a 32 x 32-bit product."""
    high = values >> np.uint64(32)
    return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)
