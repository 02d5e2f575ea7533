"""Lists of edges, and the facts about them that the definition says."""

from __future__ import annotations

import numpy as np

from lsprune.kernels import reference
from lsprune.kernels.gpu.edge_facts import EdgeFacts
from lsprune.kernels.gpu.splitmix import signed


def edge_lists() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Sources and targets: both directions, sorted, with self-loops, in several blocks, of extreme ids."""
    rng = np.random.default_rng(0)
    s, t = rng.integers(0, 50, (2, 1300))
    ring = np.arange(40)
    return {
        "random": (s, t),
        "int32": (s.astype(np.int32), t.astype(np.int32)),
        "mixed": (s.astype(np.int32), t),
        "both directions": (np.concatenate([s, t]), np.concatenate([t, s])),
        "one edge more": (np.concatenate([s, t, [1]]), np.concatenate([t, s, [2]])),
        "twice there, once back": (np.array([1, 1, 2]), np.array([2, 2, 1])),
        "sorted by source": (np.sort(s), t),
        "sorted by target": (s, np.sort(t)),
        "falls at a block border": (np.repeat([1, 0], 512), np.repeat([0, 1], 512)),
        "one loop": (np.array([3]), np.array([3])),
        "loops alone": (ring, ring),
        "large ids": (ring * 2**40, 2**62 - ring),
        "negative ids": (ring - 20, ring[::-1] - 5),
    }


def defined_facts(s: np.ndarray, t: np.ndarray) -> EdgeFacts:
    """The facts about edges; of the lowest ids only the sign is used: they are halved."""
    ends = [int(value) for end in (s, t) for value in (min(int(end.min()), 0) >> 1, end.max())]
    falls = [bool((end[1:] < end[:-1]).any()) for end in (s, t)]
    return EdgeFacts(*ends, int((s == t).sum()), not falls[0], not falls[1])


def defined_balance(s: np.ndarray, t: np.ndarray) -> int:
    """A number that is 0 if every edge has its reverse."""
    return signed(reference.reverse_balance(s, t, 0, len(s)))


def defined_loops(s: np.ndarray, t: np.ndarray, nodes: int) -> list[int]:
    """The self-loops of each node."""
    return [int(((s == t) & (s == node)).sum()) for node in range(nodes)]


def defined_row_facts(indptr: np.ndarray, other: np.ndarray) -> list[int]:
    """The numbers of `row_facts`, for ids of rows."""
    lengths, row = np.diff(indptr), np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return [0, int(other.max()) + 1, int((row == other).sum()), 0, len(other), 0, int((lengths[other] == 0).sum())]


def rows_of_lengths() -> dict[str, np.ndarray]:
    """The lengths of compressed rows: empty ones at the ends, in between, many in one block, one over several."""
    rng = np.random.default_rng(1)
    return {
        "random": rng.integers(0, 9, 200),
        "empty rows": np.array([0, 0, 3, 0, 0, 1, 0, 0]),
        "mostly empty": (rng.random(3000) < 0.1).astype(int) * 4,
        "a hub": np.array([5, 1700, 0, 3]),
        "one row": np.array([7]),
    }
