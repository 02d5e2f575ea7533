"""Edges grouped by owner."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array


def group(
    owner: Array, neighbour: Array, owners: int, neighbours: int, skip: bool, threads: int
) -> tuple[Array, Array, Array]:
    """Return (indptr, neighbour, edge): each owner's edges in the caller's order, without self-loops if `skip`."""
    rows: list[list[int]] = [[] for _ in range(owners)]
    for e, (u, v) in enumerate(zip(owner.tolist(), neighbour.tolist(), strict=True)):
        if not skip or u != v:
            rows[u].append(e)
    edge = np.array([e for row in rows for e in row], np.int64)
    indptr = np.array([0, *np.cumsum([len(row) for row in rows])], np.int64)
    return indptr, neighbour[edge], edge


def without_loops(indptr: Array, neighbour: Array, threads: int) -> tuple[Array, Array, Array | None]:
    """Return a CSR graph without self-loops, and the old position of each edge (None if there are no self-loops)."""
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if not (owner == neighbour).any():
        return indptr, neighbour, None
    return group(owner, neighbour, len(indptr) - 1, len(indptr) - 1, True, threads)
