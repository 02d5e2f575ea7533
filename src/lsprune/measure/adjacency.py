"""A graph as a sparse matrix, for the measures of structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.checks import as_array
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, oriented


def numbered_ends(graph: Graph, mask: Array | None = None) -> tuple[Array, Array]:
    """Return (source, target) of the kept edges, nodes numbered 0..N: of a bipartite graph targets after sources."""
    source, target = graph.ends()
    if mask is not None:
        kept = checked_mask(mask, graph.num_edges)
        source, target = source[kept], target[kept]
    return source, target + graph.num_sources if graph.bipartite else target


def checked_mask(mask: Any, edges: int) -> Array:
    """Return the mask as a bool array `[edges]`; raise GraphError for numbers, which may be edge ids."""
    try:
        array = as_array(mask, "mask")
    except GraphError as error:  # rows of different lengths, or a masked array
        raise GraphError(f"mask must be bool [{edges}], got {type(mask).__name__}: {error}") from None
    if array.dtype != bool or array.shape != (edges,):
        raise GraphError(f"mask must be bool [{edges}], got {array.dtype} {list(array.shape)}")
    return array


def matrix(rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """Return a CSR matrix with 1 at these places; duplicates count once."""
    from scipy.sparse import csr_array

    result = csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
    result.sum_duplicates()
    result.data[:] = 1
    return result


def owner_rows(graph: Graph, mask: Array | None, side: str) -> Any:
    """Return a CSR matrix `[owners, neighbours]` of the edges, without self-loops; parallel edges are one."""
    source, target = graph.ends()
    kept = np.ones(source.shape, bool) if mask is None else checked_mask(mask, graph.num_edges)
    kept = kept if graph.bipartite else kept & (source != target)
    owner, neighbour = oriented(side, source[kept], target[kept])
    return matrix(owner, neighbour, (graph.num_owners(side), graph.num_neighbours(side)))


def undirected(graph: Graph, mask: Array | None = None) -> Any:
    """Return a symmetric CSR matrix `[N, N]` of the edges in both directions, without self-loops and duplicates."""
    source, target = numbered_ends(graph, mask)
    real = source != target
    source, target = source[real], target[real]
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    return matrix(*ends, (graph.num_nodes, graph.num_nodes))
