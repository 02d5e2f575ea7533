"""Uniform random spanning trees by Wilson's algorithm, and the 2-core of a graph.

The arrows of a node come from the counter-based generator. A link outside of the 2-core is in every spanning tree.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.splitmix import mix


@kernel
def count_spanning_trees(indptr, neighbour, pair, local, root, starts, limit, counts):
    """Add to counts[p] the number of trees that contain pair p, one tree for each of `starts`.

    Return False if a tree takes more than `limit` steps. The i-th arrow of a node is a hash of (start of the tree,
    local id of the node, i). By Wilson's theorem the tree depends on the arrows alone, not on the order of the nodes.
    """
    nodes = indptr.shape[0] - 1
    arrow = np.empty(nodes, np.int64)
    visits = np.empty(nodes, np.int64)
    inside = np.empty(nodes, np.uint8)
    for t in range(starts.shape[0]):
        visits[:], inside[:], steps = 0, root, np.int64(0)
        for v in range(nodes):
            u = v
            while not inside[u]:
                degree = np.uint64(indptr[u + 1] - indptr[u])
                drawn = mix(mix(starts[t] ^ np.uint64(local[u])) ^ np.uint64(visits[u]))
                visits[u] += 1
                arrow[u] = indptr[u] + np.int64(((drawn >> np.uint64(32)) * degree) >> np.uint64(32))
                u = neighbour[arrow[u]]
                steps += 1
                if steps > limit:
                    return False
            u = v
            while not inside[u]:
                inside[u] = 1
                counts[pair[arrow[u]]] += 1
                u = neighbour[arrow[u]]
    return True


@kernel
def two_core(indptr, neighbour, left):
    """Turn left[v], the degree of v, into its degree in the 2-core of the graph; 0 for nodes outside of it.

    Nodes with a single link are removed until there are none.
    """
    for v in range(left.shape[0]):
        u = v
        while left[u] == 1:
            left[u] = 0
            for slot in range(indptr[u], indptr[u + 1]):
                if left[neighbour[slot]] > 0:  # the one link that is left
                    u = neighbour[slot]
                    left[u] -= 1
                    break
