"""Components, spanning forests and shortest paths by scipy, whose graph routines take indices of 32 bits alone.

Given longer ones, older versions of scipy (seen with 1.11) raise an error that names no option, or return labels
that were never written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array

MAX_ENTRIES = (1 << 31) - 1  # of a matrix, and nodes
_BLOCK_DISTANCES = 1 << 22  # distances held at a time


def components(matrix: Any) -> tuple[int, Array]:
    """Count the connected components of a sparse matrix `[N, N]`, directions aside, and label its nodes, `[N]`."""
    from scipy.sparse.csgraph import connected_components

    if not matrix.shape[0]:
        return 0, np.zeros(0, np.int32)
    count, label = connected_components(_narrow(matrix), directed=False)
    return int(count), np.asarray(label)


def minimum_forest(matrix: Any) -> Array:
    """Return the entries of a sparse matrix `[N, N]` that a minimum spanning forest of it has, in any order."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    return np.asarray(minimum_spanning_tree(_narrow(matrix)).data)


def bounded_distances(source: Array, target: Array, length: Array, nodes: int) -> Array:
    """Return the shortest distance from source to target of each edge, `[E]`, along edges of these lengths (> 0).

    A search from a node ends at its longest edge; as many nodes are searched from at a time as memory allows.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    order = np.lexsort((length, target, source))
    new = np.append(True, (np.diff(source[order]) != 0) | (np.diff(target[order]) != 0))
    shortest = order[new]  # of parallel edges, one
    matrix = coo_array((length[shortest], (source[shortest], target[shortest])), shape=(nodes, nodes))
    rows, out = _narrow(matrix), np.empty(length.shape)
    longest = np.zeros(nodes)
    np.maximum.at(longest, source, length)
    starts = np.flatnonzero(longest)
    starts = starts[np.argsort(longest[starts], kind="stable")]  # searches of one block end at about the same distance
    begin = np.searchsorted(source[order], np.arange(nodes + 1))
    count = max(1, _BLOCK_DISTANCES // nodes)
    for at in range(0, starts.shape[0], count):
        block = starts[at : at + count]
        found = dijkstra(rows, indices=block, limit=longest[block].max() * (1 + 1e-9))
        for node, distance in zip(block, found, strict=True):
            edges = order[begin[node] : begin[node + 1]]
            out[edges] = distance[target[edges]]
    return out


def _narrow(matrix: Any) -> Any:
    """Return the matrix in CSR with indices of 32 bits."""
    from scipy.sparse import csr_array

    if max(matrix.shape[0], matrix.nnz) > MAX_ENTRIES:
        raise GraphError(
            f"the graph must have at most {MAX_ENTRIES:,} nodes and as many links to compute connected "
            f"components, got {matrix.shape[0]:,} nodes and {matrix.nnz:,} links"
        )
    rows = matrix.tocsr()
    indices, indptr = (part.astype(np.int32, copy=False) for part in (rows.indices, rows.indptr))
    return csr_array((rows.data, indices, indptr), shape=rows.shape)
