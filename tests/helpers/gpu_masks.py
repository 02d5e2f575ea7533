"""Graphs with masks over their edges, and the nodes that lose all of theirs."""

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


def any_ends(seed: int, nodes: int, edges: int, dtype: type = np.int64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(source, target, mask) of edges of which some are self-loops and few are kept."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes, (2, edges)).astype(dtype)
    return source, np.where(rng.random(edges) < 0.2, source, target), rng.random(edges) < 0.15


def isolated_ends(source: np.ndarray, target: np.ndarray, mask: np.ndarray, nodes: int) -> int:
    """The nodes with an edge to another node and none that is kept."""
    real = source != target
    before, after = (set(np.concatenate([source[which], target[which]]).tolist()) for which in (real, real & mask))
    return len(before - after)


def isolated(indptr: np.ndarray, neighbour: np.ndarray, taken: np.ndarray) -> int:
    """The nodes that have an edge before and none after, by the definition."""
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    before, after = np.zeros((2, len(indptr) - 1), np.uint8)
    reference.mark_ends(owner, neighbour, taken, 0, len(owner), before, after)
    return int((before > after).sum())
