from __future__ import annotations

import numpy as np

from lsprune.kernels import cpu, reference


def test_ends_are_marked_without_self_loops():
    first, second, mask = np.array([0, 1, 2, 4]), np.array([1, 3, 2, 5]), np.array([1, 0, 1, 0], np.uint8)
    for module in (cpu, reference):
        before, after = np.zeros(6, np.uint8), np.zeros(6, np.uint8)
        module.mark_ends(first, second, mask, 0, 4, before, after)
        assert before.tolist() == [1, 1, 0, 1, 1, 1]
        assert after.tolist() == [1, 1, 0, 0, 0, 0]


def test_owners_and_neighbours_are_marked_as_all_ends_are():
    rng = np.random.default_rng(0)
    indptr, taken = np.array([0, 3, 3, 7, 9]), rng.integers(0, 2, 9).astype(np.uint8)
    taken[3:7] = 0
    neighbour = np.array([1, 2, 3, 0, 1, 3, 1, 0, 2])
    owner = np.repeat(np.arange(4), np.diff(indptr))
    for module in (cpu, reference):
        before, after = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
        module.mark_ends(owner, neighbour, taken, 0, 9, before, after)
        kept = np.zeros(4, np.uint8)
        module.mark_owners(indptr, taken, 0, 4, kept)
        assert kept.tolist() == [int(taken[a:b].any()) for a, b in zip(indptr[:-1], indptr[1:], strict=True)]
        had, keeps_none = (np.diff(indptr) > 0).view(np.uint8), (kept == 0).view(np.uint8)
        module.mark_neighbours(neighbour, taken, keeps_none, 0, 9, had, kept)
        assert (had.tolist(), kept.tolist()) == (before.tolist(), after.tolist())
