"""Matrices saved by scipy.sparse.save_npz: as an edge list, and as features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lsprune.adapters.base import Kept
from lsprune.checks import check_sparse
from lsprune.errors import FormatError
from lsprune.files.columns import need
from lsprune.files.edge_arrays import EdgeArrays, merge_counts
from lsprune.files.edge_files import LoadedEdges
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.ids import check_ids
from lsprune.files.npy import write_npz
from lsprune.graph import Array

_INDEX = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


@dataclass(frozen=True, eq=False)
class MatrixContent:
    """A scipy.sparse matrix in the layout of scipy.sparse.save_npz, and what else is in the file."""

    matrix: Any
    arrays: Mapping[str, Array]
    others: EdgeArrays
    compressed: bool

    def check(self, nodes: tuple[int, ...]) -> None:
        """Raise FormatError for an array that could belong to the nodes as well as to the edges."""
        self.others.check(nodes)

    @property
    def column_names(self) -> list[str]:
        """The names of the arrays beside the matrix."""
        return self.others.column_names

    def column(self, name: str) -> Array | None:
        """Return the array of this name beside the matrix if it has one entry for each edge, else None."""
        return self.others.column(name)

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write `.npz` as scipy does."""
        from lsprune.adapters.scipy import ScipyAdapter

        if suffix != ".npz":
            raise FormatError("a scipy matrix can be written to .npz only")
        smaller = ScipyAdapter().rebuild(self.matrix, {None: Kept(mask=mask)})
        changed = {name: getattr(smaller, name) for name in ("data", *_INDEX[smaller.format])}
        changed |= {name: self.others.kept(name, mask) for name in self.others.arrays}
        write_npz(handle, {**self.arrays, **changed}, compressed=self.compressed)


def is_matrix(arrays: Mapping[str, Array]) -> bool:
    """Return whether these arrays are what scipy.sparse.save_npz writes."""
    return {"format", "shape", "data"} <= set(arrays)


def to_matrix(arrays: Mapping[str, Array], path: Path) -> Any:
    """Return the scipy.sparse matrix in these arrays, its indices checked: scipy's own loader trusts them."""
    from scipy import sparse

    kind = arrays["format"].astype("U").reshape(-1)[:1].tolist()
    if not kind or kind[0] not in _INDEX:
        raise FormatError(f"{path}: a saved scipy matrix must be CSR, CSC or COO, got format {''.join(kind)[:40]!r}")
    need(list(arrays), _INDEX[kind[0]], path)
    first, second = (check_ids(arrays[name], name, path) for name in _INDEX[kind[0]])
    make = getattr(sparse, f"{kind[0]}_array")
    try:
        shape = tuple(map(int, arrays["shape"]))
        index = [(first, second)] if kind[0] == "coo" else [first, second]
        matrix = make((arrays["data"], *index), shape=shape)
        check_sparse(matrix, "it")
        return matrix
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise FormatError(f"{path}: not a valid scipy matrix ({error})") from None


def matrix_edges(arrays: Mapping[str, Array], path: Path, options: EdgeOptions, compressed: bool) -> LoadedEdges:
    """Return the edges of a saved matrix: an entry A[s, t] is an edge from s to t."""
    from lsprune.adapters.scipy import ScipyAdapter

    need([], options.edge_attr, path)
    matrix = to_matrix(arrays, path)
    graph = ScipyAdapter().graphs(matrix)[None]
    own = ("format", "shape", "data", "_is_array", *_INDEX[matrix.format])
    more = {name: array for name, array in arrays.items() if name not in own}
    declared = (tuple(options.edge_arrays), tuple(options.node_arrays))
    others = EdgeArrays(more, (), (), graph.num_edges, compressed, *declared)
    others.check_names(path)
    stored = (graph.num_sources, graph.num_targets) if graph.bipartite else graph.num_nodes
    nodes, limits = merge_counts(options, stored)
    return LoadedEdges(
        content=MatrixContent(matrix, arrays, others, compressed), names=("source", "target"),
        labels=("source", "target"), source=graph.source, target=graph.target, indptr=graph.indptr, rows=graph.rows,
        num_nodes=nodes if limits is None else limits,
    )  # fmt: skip
