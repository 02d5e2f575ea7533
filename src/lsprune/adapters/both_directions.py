"""Undirected edges as two directed ones, so that each end owns the edge, and back."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def both_directions(ends: Array, *columns: Array | None) -> tuple[Array, ...]:
    """Return the edges `[2, E]` followed by the reverse of all but self-loops, and columns `[E, ...]` to match."""
    back = np.flatnonzero(ends[0] != ends[1])
    doubled = (None if rows is None else np.concatenate([rows, rows[back]]) for rows in columns)
    return np.concatenate([ends, ends[::-1, back]], axis=1), *doubled  # type: ignore[arg-type]


def mean_factors(is_loop: Array, factors: Array) -> Array:
    """Return one factor for each undirected edge: the mean of those of its two directions.

    An undirected edge has one weight but two owners. With the mean, the sum of all weights is that of the directed
    graph.

    Args:
        is_loop: `[E]` bool, edges without a reverse. factors: those of the edges as `both_directions` orders them.
    """
    forward, backward = np.split(np.asarray(factors, dtype=np.float64), [is_loop.shape[0]])
    mean = forward.copy()
    mean[~is_loop] = (forward[~is_loop] + backward) / 2
    return mean
