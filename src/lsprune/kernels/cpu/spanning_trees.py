"""Uniform random spanning trees by Wilson's algorithm, from stacks of arrows that a counter-based generator gives.

Nodes that hang on a single link need no chance: `peel` finds them.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.choose import mix
from lsprune.kernels.cpu.jit import kernel


@kernel
def spanning_trees(indptr, neighbour, pair, local, root, starts, limit, counts):
    """counts[p] += number of the trees, one for each of `starts`, that contain pair p; False if one takes too long.

    The i-th arrow of a node is a hash of (start of the tree, local id of the node, i). By Wilson's theorem the tree
    depends on the arrows alone and not on the order in which the nodes are gone through. `limit`: steps for each tree.
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
def peel(indptr, neighbour, left):
    """left[v], the number of links of v, less the links to nodes that hang on one link, again and again; 0 for those.

    What is not 0 in the end is the 2-core of the graph.
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
