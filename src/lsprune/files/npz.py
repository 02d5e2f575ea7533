"""Edge lists in `.npz`: COO, compressed rows, or a matrix saved by scipy.sparse.save_npz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from lsprune.adapters.base import Kept
from lsprune.checks import check_sparse
from lsprune.errors import FormatError, OptionError
from lsprune.files.content import Edges, choose, ids, need, stack
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_table import check_positions
from lsprune.files.npy import is_compressed, read_npz, write_npz
from lsprune.graph import Array

_INDEX = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrays of a `.npz` file; those of the edges are cut to the kept ones, the others are copied whole.

    An array belongs to the edges if it holds them, is named `edge_...`, or is as long as they are: it has a row (or, in
    two dimensions, a column) for each edge. `x` (`x_source`, `x_target`) belongs to the nodes. `edge_arrays` and
    `node_arrays` are names for which the caller decided.
    """

    arrays: Mapping[str, Array]
    ends: tuple[str, ...]  # names of the arrays that hold the edges themselves
    used: tuple[str, ...]  # names of the arrays that were read as edge attributes
    count: int
    compressed: bool
    edge_arrays: tuple[str, ...] = ()
    node_arrays: tuple[str, ...] = ()
    features: tuple[str, ...] = ("x",)  # names of the arrays that are node attributes

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write `.npz`, or a table where every array belongs to the edges."""
        if suffix == ".npz":
            write_npz(handle, {name: self.kept(name, mask) for name in self.arrays}, compressed=self.compressed)
            return
        from lsprune.files.parquet import write_columns

        write_columns(handle, suffix, self._columns(mask))

    def check_names(self, path: Path) -> None:
        """Raise for an array that is said to belong to the edges and has another length, and for names without one."""
        check_declared(self.edge_arrays, self.node_arrays)
        for name in (*self.edge_arrays, *self.node_arrays):
            if name not in self.arrays:
                raise FormatError(f"{path}: no array {name!r}; it has {', '.join(self.arrays)}")
            if name in self.node_arrays and name in (*self.ends, *self.used):
                raise OptionError(f"node_arrays (--node-arrays) must not name {name!r}, which describes the edges")
        for name in self.arrays:
            try:
                self.edge_axis(name)
            except FormatError as error:
                raise FormatError(f"{path}: {error}") from None

    def node_features(self, name: str) -> Array | None:
        """The array of node attributes under this name, unless the caller said that it belongs to the edges."""
        of_edges = name in (*self.edge_arrays, *self.used) or name not in self.features
        return None if of_edges else self.arrays.get(name)

    @property
    def beside_edges(self) -> dict[str, Array]:
        """The arrays that nobody said belong to the edges."""
        of_edges = (*self.ends, *self.used, *self.edge_arrays)
        return {name: array for name, array in self.arrays.items() if name not in of_edges}

    def check_kinds(self, path: Path) -> None:
        """FormatError for one `x` where sources and targets are two kinds of nodes."""
        if "x" in self.beside_edges and "x" not in (*self.features, *self.node_arrays):
            raise FormatError(f"{path}: x must be x_source and x_target where there are two kinds of nodes")

    def check_features(self, nodes: int | None, largest: Callable[[], int], path: Path) -> None:
        """FormatError where `x` is as long as the edges and nothing says that there are as many nodes.

        Args:
            nodes: their number, where it is given. largest: gives the largest id in the edges.
        """
        x = self.node_features("x")
        if x is None or nodes is not None or "x" in self.node_arrays or x.shape[:1] != (self.count,) or not self.count:
            return
        if (names := largest() + 1) != self.count:
            raise FormatError(
                f"{path}: x is as long as the {self.count} edges, which name {names} nodes; say what it belongs to: "
                f"--edge-arrays x (edge_arrays in Python) or --node-arrays x"
            )

    @property
    def undecided(self) -> tuple[str, ...]:
        """Names of the arrays that are cut for no other reason than their length."""
        return tuple(name for name in self.arrays if not self._named(name) and self._long_axis(name) is not None)

    def check(self, nodes: tuple[int, ...]) -> None:
        """Raise for an array that could as well belong to the nodes: there are as many nodes as edges."""
        if self.undecided and self.count in nodes:
            raise _ambiguous(self.undecided[0], self.count)

    def kept(self, name: str, mask: Array) -> Array:
        """An array as it is written: cut to the kept edges, or whole."""
        array, axis = self.arrays[name], self.edge_axis(name)
        if name == "indptr" and name in self.ends:
            from lsprune.kernels import compress_csr

            return np.asarray(compress_csr(array, mask))
        return array if axis is None else array[mask] if axis == 0 else array[:, mask]

    def edge_axis(self, name: str) -> int | None:
        """The axis along which an array is cut to the kept edges, 0 or 1; None: it is copied whole.

        FormatError where its name says that it belongs to the edges and its length does not.
        """
        if name in self.ends:
            return 1 if name == "edge_index" else 0
        if name in self.used:
            return 0
        if name in self.node_arrays or not self._named(name):
            return None if name in self.node_arrays else self._long_axis(name)
        if name not in self.edge_arrays and not _edge_name(name):
            return None
        axis = self._long_axis(name)
        if axis is None or (axis == 1 and name not in self.edge_arrays):
            told = "needs a name that does not start with edge_" if _edge_name(name) else "must not be in edge_arrays"
            raise FormatError(
                f"{name} must have one entry for each of the {self.count} edges, got {list(self.arrays[name].shape)}; "
                f"what does not belong to the edges {told}"
            )
        return axis

    def _named(self, name: str) -> bool:
        """Whether a name tells what an array belongs to, whatever its length."""
        if name in (*self.ends, *self.used, *self.edge_arrays, *self.node_arrays):
            return True
        labels = name.startswith("edge_label") and "edge_label_index" in self.arrays  # of other edges: those of a split
        rows = name == "rows" and "indptr" in self.ends
        return labels or rows or name in (*self.features, "num_nodes") or _edge_name(name)

    def _long_axis(self, name: str) -> int | None:
        """The axis as long as the edges, if there is one."""
        shape = self.arrays[name].shape
        if not self.count and not _edge_name(name):
            return None
        if shape[:1] == (self.count,):
            return 0
        return 1 if len(shape) == 2 and shape[1] == self.count else None

    def _columns(self, mask: Array) -> dict[str, Array]:
        others = [name for name in self.arrays if name not in self.ends and self.edge_axis(name) != 0]
        if others or "indptr" in self.ends:
            lost = ", ".join(map(repr, others)) or "compressed rows"
            raise FormatError(f"a table of edges cannot hold {lost}; write .npz")
        if self.ends == ("edge_index",):
            columns = dict(zip(("source", "target"), self.kept("edge_index", mask), strict=True))
        else:
            columns = {name: self.kept(name, mask) for name in self.ends}
        return columns | {name: self.kept(name, mask) for name in self.arrays if name not in self.ends}


def check_declared(edge_arrays: tuple[str, ...], node_arrays: tuple[str, ...]) -> None:
    """OptionError for an array that is said to belong to both."""
    for name in edge_arrays:
        if name in node_arrays:
            raise OptionError(f"edge_arrays and node_arrays must have no name in common, got {name!r} in both")


def _edge_name(name: str) -> bool:
    """Whether a name is one of the edges' by convention."""
    return name.startswith("edge_") and not name.startswith("edge_label") and name != "edge_index"


def _ambiguous(name: str, count: int) -> FormatError:
    return FormatError(
        f"array {name!r} is as long as the {count} edges and as the {count} nodes; say which it belongs to: "
        f"--edge-arrays {name} (edge_arrays in Python) or --node-arrays {name}"
    )


@dataclass(frozen=True, eq=False)
class Matrix:
    """A scipy.sparse matrix in the layout of scipy.sparse.save_npz, and what else is in the file."""

    matrix: Any
    arrays: Mapping[str, Array]
    others: Arrays
    compressed: bool

    def check(self, nodes: tuple[int, ...]) -> None:
        """Raise for an array that could belong to the nodes as well as to the edges."""
        self.others.check(nodes)

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write `.npz` as scipy does."""
        from lsprune.adapters.scipy import ScipyAdapter

        if suffix != ".npz":
            raise FormatError("a scipy matrix can be written to .npz only")
        smaller = ScipyAdapter().rebuild(self.matrix, {None: Kept(mask=mask)})
        changed = {name: getattr(smaller, name) for name in ("data", *_INDEX[smaller.format])}
        changed |= {name: self.others.kept(name, mask) for name in self.others.arrays}
        write_npz(handle, {**self.arrays, **changed}, compressed=self.compressed)


def read(
    path: Path,
    source: str | None,
    target: str | None,
    edge_attr: tuple[str, ...],
    edge_arrays: tuple[str, ...] = (),
    node_arrays: tuple[str, ...] = (),
    bipartite: bool = False,
    num_nodes: int | None = None,
    memory: MemoryBudget | None = None,
) -> Edges:
    """The edges of a `.npz` file; `num_nodes` is what the caller says of one kind of nodes."""
    arrays = read_npz(path, memory)
    if source is None and is_matrix(arrays):
        need([], edge_attr, path)
        return _from_matrix(arrays, path, edge_arrays, node_arrays)
    ends, found = _ends(arrays, source, target, path)
    need(list(arrays), edge_attr, path)
    used = edge_attr or tuple(name for name in ("edge_attr",) if name in arrays)
    count = (found["target"] if "target" in found else found["source"]).shape[0]
    nodes = node_count(arrays.get("num_nodes"), path)
    features = feature_names(bipartite or isinstance(nodes, tuple))
    content = Arrays(arrays, ends, used, count, is_compressed(path), edge_arrays, node_arrays, features)
    content.check_names(path)
    if "indptr" not in ends:
        both = (found["source"], found["target"])
        known = nodes if isinstance(nodes, int) else None
        content.check_features(
            known if num_nodes is None else num_nodes, lambda: max(int(end.max(initial=-1)) for end in both), path
        )
    content.check_kinds(path)
    if (x := content.node_features("x")) is not None:
        check_positions(content.beside_edges, x, path)
    return Edges(
        **found,
        content=content,
        edge_attr=_attributes(arrays, used, path),
        x=x,
        x_ends=(content.node_features("x_source"), content.node_features("x_target")),
        num_nodes=nodes,
    )


def feature_names(bipartite: bool) -> tuple[str, ...]:
    """Names of the arrays with node attributes: one, or one for each end where these are two kinds of nodes."""
    return ("x_source", "x_target") if bipartite else ("x",)


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
        index = [(first, second)] if kind[0] == "coo" else [first, second]
        matrix = make((arrays["data"], *index), shape=shape)
        check_sparse(matrix, "it")
        return matrix
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise FormatError(f"{path}: not a valid scipy matrix ({error})") from None


def _from_matrix(
    arrays: Mapping[str, Array], path: Path, edge_arrays: tuple[str, ...], node_arrays: tuple[str, ...]
) -> Edges:
    from lsprune.adapters.scipy import ScipyAdapter

    matrix = to_matrix(arrays, path)
    graph = ScipyAdapter().graphs(matrix)[None]
    nodes = (graph.num_sources, graph.num_targets) if graph.bipartite else graph.num_nodes
    own = ("format", "shape", "data", "_is_array", *_INDEX[matrix.format])
    more = {name: array for name, array in arrays.items() if name not in own}
    compressed = is_compressed(path)
    others = Arrays(more, (), (), graph.num_edges, compressed, edge_arrays, node_arrays)
    others.check_names(path)
    content = Matrix(matrix, arrays, others, compressed)
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
