"""What kernels of exact shares must return, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsprune.kernels.gpu.owner_budget import LARGE_DEGREE, LAST
from lsprune.kernels.reference.splitmix import mix


def indptr_of(degrees: Sequence[int]) -> np.ndarray:
    """Where the edges of each owner begin, and where the last end."""
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)


def loops_of(degrees: Sequence[int]) -> np.ndarray:
    """Some self-loops for each owner, int32: none, one, or all of its edges."""
    degrees = np.asarray(degrees, np.int32)
    return np.where(np.arange(degrees.size) % 3 == 2, degrees, np.minimum(degrees, np.arange(degrees.size) % 3))


def counted(degrees: Sequence[int], loops: np.ndarray | None) -> list[int]:
    """The owners by degree without self-loops, those of many edges together, and the number of edges."""
    counts, total = [0] * (LARGE_DEGREE + 1), 0
    for degree in _without(degrees, loops):
        counts[min(degree, LARGE_DEGREE)] += 1
        total += degree
    return [*counts, total]


def _without(degrees: Sequence[int], loops: np.ndarray | None) -> list[int]:
    return (np.asarray(degrees, np.int64) - (0 if loops is None else loops)).tolist()


def ordered(
    degrees: Sequence[int], loops: np.ndarray | None, level: int, start: int, ids: np.ndarray | None
) -> list[int]:
    """The hash of each owner of more than `level` edges, in signed order; else the largest number."""
    names = range(len(degrees)) if ids is None else ids.tolist()
    pairs = zip(_without(degrees, loops), names, strict=True)
    return [mix((start % 2**64) ^ name) - 2**63 if degree > level else LAST for degree, name in pairs]
