"""Standard normal values as integers: a stored table of 4,096 quantiles in units of 2^-5.

The table is stored as run lengths of its upper half, so that no result depends on a platform's log or erf. A draw looks
it up by the top 12 bits of a hash.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from lsprune.graph import Array

UNIT = 32  # the table value for 1.0

# RUNS[v]: how many of the upper 2,048 quantiles (i + 0.5) / 4096 round to v / 32.
RUNS = (
    26, 51, 51, 50, 51, 50, 51, 50, 49, 49, 49, 48, 47, 47, 47, 46, 45, 44, 44, 42, 42, 42, 40, 39, 39, 38, 36, 36,
    35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 24, 22, 22, 21, 19, 19, 19, 17, 17, 15, 15, 15, 13, 13, 13, 11,
    11, 11, 10, 9, 9, 8, 8, 7, 7, 7, 6, 5, 6, 5, 5, 4, 4, 4, 3, 4, 3, 2, 3, 2, 3, 2, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1,
)  # fmt: skip


@cache
def table() -> Array:
    """Return the 4,096 quantiles, ascending, as int16."""
    upper = np.repeat(np.arange(len(RUNS), dtype=np.int16), RUNS)
    return np.concatenate([-upper[::-1], upper])


def normal(draws: Array) -> Array:
    """Return standard normal values in units of 2^-5 for uint64 draws, as int16."""
    return table()[(draws >> np.uint64(52)).astype(np.int64)]
