"""Edge lists in `.npz`: COO, compressed rows, or a matrix saved by scipy.sparse.save_npz."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from lsprune.adapters.base import Kept
from lsprune.adapters.files.content import Edges, choose, ids, need, stack
from lsprune.adapters.files.memory import MemoryBudget
from lsprune.adapters.files.npy import is_compressed, read_npz, write_npz
from lsprune.errors import FormatError
from lsprune.graph import Array

_INDEX = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrays of a `.npz` file; those of the edges are cut to the kept ones, the others are carried whole."""

    arrays: Mapping[str, Array]
    ends: tuple[str, ...]  # names of the arrays that hold the edges themselves
    used: tuple[str, ...]  # names of the arrays that were read as edge attributes
    count: int
    compressed: bool

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write `.npz`, or a table where every array belongs to the edges."""
        if suffix == ".npz":
            write_npz(handle, {name: self._kept(name, mask) for name in self.arrays}, compressed=self.compressed)
            return
        from lsprune.adapters.files.table import write_columns

        write_columns(handle, suffix, self._columns(mask))

    def check(self, path: Path) -> None:
        """Raise for an array that is named as one of the edges and has another length."""
        for name in self.arrays:
            try:
                self.of_edges(name)
            except FormatError as error:
                raise FormatError(f"{path}: {error}") from None

    def _kept(self, name: str, mask: Array) -> Array:
        array = self.arrays[name]
        if name == "indptr" and name in self.ends:
            from lsprune.kernels import compress_csr

            return np.asarray(compress_csr(array, mask))
        if name == "edge_index" and name in self.ends:
            return array[:, mask]
        return array[mask] if self.of_edges(name) else array

    def of_edges(self, name: str) -> bool:
        """Whether an array is cut to the kept edges; FormatError where its name says so and its length does not."""
        if name in self.ends or name in self.used:
            return True
        named = name.startswith("edge_") and not name.startswith("edge_label")
        array = self.arrays[name]
        if named and name != "edge_index" and array.shape[:1] != (self.count,):
            raise FormatError(
                f"{name} must have one entry for each of the {self.count} edges, got {list(array.shape)}; "
                "what does not belong to the edges needs a name that does not start with edge_"
            )
        return named and name != "edge_index"

    def _columns(self, mask: Array) -> dict[str, Array]:
        others = [name for name in self.arrays if not self.of_edges(name)]
        if others or "indptr" in self.ends:
            lost = ", ".join(map(repr, others)) or "compressed rows"
            raise FormatError(f"a table of edges cannot hold {lost}; write .npz")
        if self.ends == ("edge_index",):
            columns = dict(zip(("source", "target"), self._kept("edge_index", mask), strict=True))
        else:
            columns = {name: self._kept(name, mask) for name in self.ends}
        return columns | {name: self._kept(name, mask) for name in self.arrays if name not in self.ends}


@dataclass(frozen=True, eq=False)
class Matrix:
    """A scipy.sparse matrix in the layout of scipy.sparse.save_npz."""

    matrix: Any
    arrays: Mapping[str, Array]
    compressed: bool

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write `.npz` as scipy does."""
        from lsprune.adapters.sparse import SparseMatrix

        if suffix != ".npz":
            raise FormatError("a scipy matrix can be written to .npz only")
        smaller = SparseMatrix().rebuild(self.matrix, {None: Kept(mask=mask)})
        changed = {name: getattr(smaller, name) for name in ("data", *_INDEX[smaller.format])}
        write_npz(handle, {**self.arrays, **changed}, compressed=self.compressed)


def read(path: Path, source: str | None, target: str | None, edge_attr: tuple[str, ...], memory: MemoryBudget) -> Edges:
    """The edges of a `.npz` file."""
    arrays = read_npz(path, memory)
    if source is None and is_matrix(arrays):
        need([], edge_attr, path)
        return _from_matrix(arrays, path)
    ends, found = _ends(arrays, source, target, path)
    need(list(arrays), edge_attr, path)
    used = edge_attr or tuple(name for name in ("edge_attr",) if name in arrays)
    count = (found["target"] if "target" in found else found["source"]).shape[0]
    content = Arrays(arrays, ends, used, count, is_compressed(path))
    content.check(path)
    return Edges(
        **found,
        content=content,
        edge_attr=_attributes(arrays, used, path),
        x=arrays.get("x"),
        num_nodes=node_count(arrays.get("num_nodes"), path),
    )


def ends_of(arrays: Mapping[str, Array], source: str | None, target: str | None, path: Path) -> tuple[str, ...]:
    """Names of the arrays that hold the edges: `edge_index`, or `indptr` and `indices`, or two arrays of ids."""
    if source is None and "edge_index" in arrays:
        return ("edge_index",)
    if source is None and "indptr" in arrays and "indices" in arrays:
        return ("indptr", "indices")
    return choose(list(arrays), source, target, path)


def rows_of(arrays: Mapping[str, Array], path: Path) -> Literal["source", "target"]:
    """Which end the compressed rows are."""
    rows = str(arrays["rows"]) if "rows" in arrays else "source"
    if rows not in ("source", "target"):
        raise FormatError(f'{path}: rows must be "source" or "target", got {rows[:40]!r}')
    return "source" if rows == "source" else "target"


def node_count(array: Array | None, path: Path) -> int | tuple[int, int] | None:
    """The number of nodes that an array `num_nodes` says, or the pair of a bipartite graph."""
    if array is None:
        return None
    if array.dtype.kind not in "iu" or array.size not in (1, 2) or int(array.min()) < 0:
        raise FormatError(f"{path}: num_nodes must be one whole number >= 0, or two, got {array.dtype} {array.shape}")
    values = [int(value) for value in array.reshape(-1)]
    return values[0] if len(values) == 1 else (values[0], values[1])


def is_matrix(arrays: Mapping[str, Array]) -> bool:
    """Whether these arrays are what scipy.sparse.save_npz writes."""
    return {"format", "shape", "data"} <= set(arrays)


def to_matrix(arrays: Mapping[str, Array], path: Path) -> Any:
    """The scipy.sparse matrix in these arrays, its indices checked: scipy's own loader trusts them."""
    from scipy import sparse

    kind = arrays["format"].astype("U").reshape(-1)[:1].tolist()
    if not kind or kind[0] not in _INDEX:
        raise FormatError(f"{path}: a saved scipy matrix must be CSR, CSC or COO, got format {''.join(kind)[:40]!r}")
    need(list(arrays), _INDEX[kind[0]], path)
    first, second = (ids(arrays[name], name, path) for name in _INDEX[kind[0]])
    make = getattr(sparse, f"{kind[0]}_array")
    try:
        shape = tuple(map(int, arrays["shape"]))
        if kind[0] == "coo":
            return make((arrays["data"], (first, second)), shape=shape)
        matrix = make((arrays["data"], first, second), shape=shape)
        matrix.check_format(full_check=True)
        return matrix
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise FormatError(f"{path}: not a valid scipy matrix ({error})") from None


def _from_matrix(arrays: Mapping[str, Array], path: Path) -> Edges:
    from lsprune.adapters.sparse import SparseMatrix

    matrix = to_matrix(arrays, path)
    graph = SparseMatrix().graphs(matrix)[None]
    nodes = (graph.num_sources, graph.num_targets) if graph.bipartite else graph.num_nodes
    content = Matrix(matrix, arrays, is_compressed(path))
    return Edges(
        source=graph.source, target=graph.target, indptr=graph.indptr, rows=graph.rows,
        num_nodes=nodes, content=content,
    )  # fmt: skip


def _ends(
    arrays: Mapping[str, Array], source: str | None, target: str | None, path: Path
) -> tuple[tuple[str, ...], dict[str, Any]]:
    ends = ends_of(arrays, source, target, path)
    if ends == ("edge_index",):
        return ends, _edge_index(arrays["edge_index"], path)
    if ends == ("indptr", "indices") and source is None:
        return ends, _compressed(arrays, path)
    first, second = (ids(arrays[name], name, path) for name in ends)
    return ends, {"source": first, "target": second, "names": ends}


def _attributes(arrays: Mapping[str, Array], names: tuple[str, ...], path: Path) -> Array | None:
    sizes = {arrays[name].shape[:1] for name in names}
    if len(sizes) > 1 or () in sizes:
        raise FormatError(f"{path}: the arrays {', '.join(names)} must have one row for each edge")
    return stack([arrays[name] for name in names])


def _edge_index(array: Array, path: Path) -> dict[str, Any]:
    if array.ndim != 2 or array.shape[0] != 2:
        raise FormatError(f"{path}: edge_index must have shape [2, E], got {list(array.shape)}")
    return {"source": ids(array[0], "edge_index[0]", path), "target": ids(array[1], "edge_index[1]", path)}


def _compressed(arrays: Mapping[str, Array], path: Path) -> dict[str, Any]:
    rows = rows_of(arrays, path)
    other = ids(arrays["indices"], "indices", path)
    indptr = ids(arrays["indptr"], "indptr", path)
    return {"indptr": indptr, "rows": rows, "target" if rows == "source" else "source": other}
