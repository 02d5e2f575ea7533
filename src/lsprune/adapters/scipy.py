"""Adapter for scipy.sparse matrices and arrays, read as adjacency: A[s, t] is the edge s -> t.

Every stored entry is an edge, explicit zeros and duplicates included. The values are edge weights, not attributes: they
follow their edges and are what `rescale` multiplies, but they are not hashed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key, libraries
from lsprune.checks import check_sparse, to_csr
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.kernels import compress, compress_csr

FORMATS = ("csr", "csc", "coo")
_CONVERTED = ("lil", "dok")  # they have no order of entries: edges and masks follow their CSR form


class ScipyAdapter(Adapter):
    """Reads and rebuilds a scipy.sparse matrix; class, format, dtype, shape and canonical flags stay."""

    name: ClassVar[str] = "scipy"
    about: ClassVar[str] = "a scipy.sparse matrix"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return "scipy" in libraries(data)

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return a graph on the index arrays of the matrix; a matrix that is not square is a bipartite graph."""
        matrix = _supported(data)
        rows, columns = matrix.shape
        num_nodes = rows if rows == columns else (rows, columns)
        if matrix.format == "coo":
            return {
                None: Graph.from_edges((matrix.row, matrix.col), num_nodes=num_nodes, edge_weight=_numbers(matrix.data))
            }
        indices = matrix.indices[: matrix.indptr[-1]]  # scipy allows spare room at the end
        side: Literal["source", "target"] = "source" if matrix.format == "csr" else "target"
        weight = _numbers(matrix.data[: indices.shape[0]])
        return {None: Graph.from_csr(matrix.indptr, indices, rows=side, num_nodes=num_nodes, edge_weight=weight)}

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """Return a new matrix with the kept entries. Integer values become floats when weights rescale them."""
        if None not in kept:
            return data
        kept[None].refuse_e_id("a scipy matrix")
        matrix = _supported(data)
        smaller = _coo(matrix, kept[None]) if matrix.format == "coo" else _compressed(matrix, kept[None])
        return smaller.asformat(data.format)


def kinds() -> tuple[type[Adapter], ...]:
    """Return the adapters of this module."""
    return (ScipyAdapter,)


def _numbers(values: Array) -> Array | None:
    """Return the values of the entries as edge weights; None for what cannot be ordered, such as complex numbers."""
    return values if values.dtype.kind in "biuf" else None


def _supported(data: Any) -> Any:
    kind = getattr(data, "format", None)
    if getattr(data, "ndim", None) != 2 or kind not in (*FORMATS, *_CONVERTED):
        text = f"{type(data).__name__} of shape {list(getattr(data, 'shape', []))}"
        raise GraphError(f"a scipy.sparse graph must be a CSR, CSC or COO matrix [N, N], got {text}; try .tocsr()")
    if kind in _CONVERTED:
        return to_csr(data, "the matrix")
    check_sparse(data, "the matrix")
    return data


def _coo(matrix: Any, kept: Kept) -> Any:
    row, column = compress(kept.mask, matrix.row), compress(kept.mask, matrix.col)
    smaller = type(matrix)((_values(matrix.data, kept), (row, column)), shape=matrix.shape)
    smaller.has_canonical_format = matrix.has_canonical_format  # a subset of sorted, distinct entries is the same
    return smaller


def _compressed(matrix: Any, kept: Kept) -> Any:
    size = kept.mask.shape[0]
    indices = compress(kept.mask, matrix.indices[:size])
    parts = (_values(matrix.data[:size], kept), indices, compress_csr(matrix.indptr, kept.mask))
    smaller = type(matrix)(parts, shape=matrix.shape)
    _carry_flags(matrix, smaller)
    return smaller


def _carry_flags(matrix: Any, smaller: Any) -> None:
    # Only flags that are set already: computing them takes a pass over the edges and writes on the caller's object.
    # False is not carried over, since fewer entries may well be sorted and distinct.
    for flag in ("has_sorted_indices", "has_canonical_format"):
        if matrix.__dict__.get(f"_{flag}"):
            setattr(smaller, flag, True)


def _values(values: Array, kept: Kept) -> Array:
    picked = compress(kept.mask, values)
    # float32 factors leave every floating type as it is; integers become floats, since they cannot hold a share
    return picked if kept.weight is None else np.asarray(picked * kept.weight[kept.mask])
