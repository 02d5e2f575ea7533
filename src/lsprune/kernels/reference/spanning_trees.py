"""Uniform random spanning trees, and the 2-core that is left without hanging trees."""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.reference.splitmix import mix


def count_spanning_trees(
    indptr: Array, neighbour: Array, pair: Array, local: Array, root: Array, starts: Array, limit: int, counts: Array
) -> bool:
    """Add to counts[p] the number of uniform spanning trees that contain pair p (Wilson's algorithm).

    Each node has a stack of random arrows; cycles are popped. Return False if a tree takes more than `limit` steps.
    """
    for start in starts.tolist():
        visits, steps, arrow = [0] * len(local), 0, [-1] * len(local)
        inside = root.astype(bool).tolist()
        for v in range(len(local)):
            u = v
            while not inside[u]:
                drawn = mix(mix(start ^ int(local[u])) ^ visits[u]) >> 32
                visits[u] += 1
                arrow[u] = int(indptr[u]) + ((drawn * int(indptr[u + 1] - indptr[u])) >> 32)
                u = int(neighbour[arrow[u]])
                steps += 1
                if steps > limit:
                    return False
            u = v
            while not inside[u]:  # what is left of the path once its cycles are gone: the last arrow of each node
                inside[u] = True
                counts[pair[arrow[u]]] += 1
                u = int(neighbour[arrow[u]])
    return True


def two_core(indptr: Array, neighbour: Array, left: Array) -> None:
    """Turn left[v], the degree of v, into its degree in the 2-core of the graph; 0 for nodes outside of it.

    Nodes with a single link are removed until there are none.
    """
    while (left == 1).any():
        v = int(np.flatnonzero(left == 1)[0])
        joined = neighbour[int(indptr[v]) : int(indptr[v + 1])]
        left[v] = 0
        left[joined[left[joined] > 0]] -= 1
