"""The distinct values of an array."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def distinct(values: Array) -> Array:
    """Return the distinct values in ascending order; the array, which must be the caller's own, is sorted in place.

    `np.unique` looks values up in a hash table (from NumPy 2.3 on), which takes seven times as long for millions of
    different numbers.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    values.sort()
    first = np.ones(values.shape[0], bool)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]
