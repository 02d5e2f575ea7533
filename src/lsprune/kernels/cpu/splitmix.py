"""splitmix64, the mixing function behind every random choice."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.numeric.random_numbers import FIRST_FACTOR, GOLDEN, SECOND_FACTOR


@kernel
def mix(value):
    """Return splitmix64 of a uint64."""
    value = value + np.uint64(GOLDEN)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return value ^ (value >> np.uint64(31))
