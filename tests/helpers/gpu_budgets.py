"""What kernels of exact shares must return, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE, LAST
from lsprune.kernels.reference.splitmix import mix


def indptr_of(degrees: Sequence[int]) -> np.ndarray:
    """Where the edges of each owner begin, and where the last end."""
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)


def counted(degrees: Sequence[int]) -> list[int]:
    """The owners by degree, those of many edges together, and the number of edges."""
    counts = [0] * (LARGE_DEGREE + 1)
    for degree in degrees:
        counts[min(int(degree), LARGE_DEGREE)] += 1
    return [*counts, int(sum(degrees))]


def ordered(degrees: Sequence[int], level: int, start: int, ids: np.ndarray | None) -> list[int]:
    """The hash of each owner of more than `level` edges, in signed order; else the largest number."""
    names = range(len(degrees)) if ids is None else ids.tolist()
    pairs = zip(degrees, names, strict=True)
    return [mix((start % 2**64) ^ name) - 2**63 if degree > level else LAST for degree, name in pairs]
