"""A graph as a sparse matrix: what the measures of structure look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.checks import as_array
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


def one_range(graph: Graph, mask: Array | None = None) -> tuple[Array, Array]:
    """(source, target) of the edges of a mask, the nodes numbered 0..N: in a bipartite graph targets after sources."""
    source, target = graph.ends()
    if mask is not None:
        kept = checked_mask(mask, graph.num_edges)
        source, target = source[kept], target[kept]
    return source, target + graph.num_sources if graph.bipartite else target


def checked_mask(mask: Any, edges: int) -> Array:
    """The mask as a bool array `[edges]`. Numbers are refused: they may be ids of edges as well as zeros and ones."""
    try:
        given = as_array(mask, "mask")
    except GraphError as error:  # rows of different lengths, or a masked array
        raise GraphError(f"mask must be bool [{edges}], got {type(mask).__name__}: {error}") from None
    if given.dtype != bool or given.shape != (edges,):
        raise GraphError(f"mask must be bool [{edges}], got {given.dtype} {list(given.shape)}")
    return given


def matrix(rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """A CSR matrix of ones at these places, each counted once."""
    from scipy.sparse import csr_array

    made = csr_array((np.ones(rows.size), (rows, columns)), shape=shape)
    made.sum_duplicates()
    made.data[:] = 1
    return made


def owner_rows(graph: Graph, mask: Array | None, side: str) -> Any:
    """CSR `[owners, neighbours]`: who hears whom, without self-loops; parallel edges are one."""
    source, target = graph.ends()
    kept = np.ones(source.shape, bool) if mask is None else checked_mask(mask, graph.num_edges)
    kept = kept if graph.bipartite else kept & (source != target)
    made = matrix(target[kept], source[kept], (graph.num_targets, graph.num_sources))
    return made if side == "in" else made.T.tocsr()


def undirected(graph: Graph, mask: Array | None = None) -> Any:
    """CSR `[N, N]`, symmetric: who is joined to whom in either direction; no self-loops, parallel edges are one."""
    source, target = one_range(graph, mask)
    real = source != target
    source, target = source[real], target[real]
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    return matrix(*ends, (graph.num_nodes, graph.num_nodes))
