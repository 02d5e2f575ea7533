"""Connected components and spanning forests by scipy, whose graph routines take indices of 32 bits alone.

Given longer ones, older versions of scipy (seen with 1.11) raise an error that names no option, or return labels
that were never written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array

MAX_ENTRIES = (1 << 31) - 1  # of a matrix, and nodes


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
