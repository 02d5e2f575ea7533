"""A graph as a sparse matrix: what the measures of structure look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


def one_range(graph: Graph, mask: Array | None = None) -> tuple[Array, Array]:
    """(source, target) of the edges of a mask, the nodes numbered 0..N: in a bipartite graph targets after sources."""
    source, target = graph.ends()
    kept = checked_mask(graph, mask)
    if kept is not None:
        source, target = source[kept], target[kept]
    return source, target + graph.num_sources if graph.bipartite else target


def checked_mask(graph: Graph, mask: Array | None) -> Array | None:
    """The mask as bool `[E]`; None stands for all edges."""
    if mask is None:
        return None
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.shape != (graph.num_edges,):
        raise GraphError(f"mask must be bool [{graph.num_edges}], got {mask.dtype} {list(mask.shape)}")
    return mask


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
    kept = np.ones(source.shape, bool) if mask is None else mask
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
