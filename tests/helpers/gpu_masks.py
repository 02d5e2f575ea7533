"""Graphs of which each owner keeps an edge, and the nodes that lose all of theirs."""

from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def owners_that_keep_one(seed: int, nodes: int, dtype: type = np.int64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, neighbour, taken) of a graph without self-loops in which half of the nodes own no edge."""
    rng = np.random.default_rng(seed)
    degree = rng.integers(1, 6, nodes) * (rng.random(nodes) < 0.5)
    indptr, owner = np.concatenate([[0], np.cumsum(degree)]), np.repeat(np.arange(nodes), degree)
    neighbour = (owner + rng.integers(1, max(nodes, 2), len(owner))) % max(nodes, 1)
    taken = (rng.random(len(owner)) < 0.2).astype(np.uint8)
    taken[indptr[:-1][degree > 0]] = 1
    return indptr, neighbour.astype(dtype), taken


def isolated(indptr: np.ndarray, neighbour: np.ndarray, taken: np.ndarray) -> int:
    """The nodes that have an edge before and none after, by the definition."""
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    before, after = np.zeros((2, len(indptr) - 1), np.uint8)
    reference.mark_ends(owner, neighbour, taken, 0, len(owner), before, after)
    return int((before > after).sum())
