"""Which arrays of a `.npz` hold the edges, which are cut with them, and which are copied whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files.columns import choose_ends
from lsprune.files.edge_files import split_nodes
from lsprune.files.edge_options import EdgeOptions
from lsprune.files.npy import write_npz
from lsprune.graph import Array


@dataclass(frozen=True, eq=False)
class EdgeArrays:
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
        from lsprune.files.edge_tables import write_columns

        write_columns(handle, suffix, self._columns(mask))

    def check_names(self, path: Path) -> None:
        """Raise for an array that is said to belong to the edges and has another length, and for names without one."""
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
        """Return the array of node attributes under this name, unless the caller said that it belongs to the edges."""
        of_edges = name in (*self.edge_arrays, *self.used) or name not in self.features
        return None if of_edges else self.arrays.get(name)

    @property
    def beside_edges(self) -> dict[str, Array]:
        """The arrays that nobody said belong to the edges."""
        of_edges = (*self.ends, *self.used, *self.edge_arrays)
        return {name: array for name, array in self.arrays.items() if name not in of_edges}

    def check_kinds(self, path: Path) -> None:
        """Raise FormatError for one `x` where sources and targets are two kinds of nodes."""
        if "x" in self.beside_edges and "x" not in (*self.features, *self.node_arrays):
            raise FormatError(f"{path}: x must be x_source and x_target where there are two kinds of nodes")

    def check_features(self, nodes: int | None, largest: Callable[[], int], path: Path) -> None:
        """Raise FormatError if `x` is as long as the edges and nothing says that there are as many nodes.

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

    @property
    def column_names(self) -> list[str]:
        """The names of all arrays."""
        return list(self.arrays)

    def column(self, name: str) -> Array | None:
        """Return the array of this name if it has one entry for each edge, else None."""
        known = name in self.arrays and self.arrays[name].shape == (self.count,)
        return self.arrays[name] if known and self.edge_axis(name) == 0 else None

    def kept(self, name: str, mask: Array) -> Array:
        """Return an array as it is written: cut to the kept edges, or whole."""
        array, axis = self.arrays[name], self.edge_axis(name)
        if name == "indptr" and name in self.ends:
            from lsprune.kernels import compress_csr

            return np.asarray(compress_csr(array, mask))
        return array if axis is None else array[mask] if axis == 0 else array[:, mask]

    def edge_axis(self, name: str) -> int | None:
        """Return the axis along which an array is cut to the kept edges, 0 or 1; None: it is copied whole.

        Raise FormatError if its name says that it belongs to the edges and its length does not.
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
            advice = "needs a name that does not start with edge_" if _edge_name(name) else "must not be in edge_arrays"
            raise FormatError(
                f"{name} must have one entry for each of the {self.count} edges, got {list(self.arrays[name].shape)}; "
                f"what does not belong to the edges {advice}"
            )
        return axis

    def _named(self, name: str) -> bool:
        """Return whether a name tells what an array belongs to, whatever its length."""
        if name in (*self.ends, *self.used, *self.edge_arrays, *self.node_arrays):
            return True
        labels = name.startswith("edge_label") and "edge_label_index" in self.arrays  # of other edges: those of a split
        rows = name == "rows" and "indptr" in self.ends
        return labels or rows or name in (*self.features, "num_nodes") or _edge_name(name)

    def _long_axis(self, name: str) -> int | None:
        """Return the axis as long as the edges, if there is one."""
        shape = self.arrays[name].shape
        if not self.count and not _edge_name(name) and name not in self.edge_arrays:
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


def _edge_name(name: str) -> bool:
    """Return whether a name is one of the edges' by convention."""
    return name.startswith("edge_") and not name.startswith("edge_label") and name != "edge_index"


def _ambiguous(name: str, count: int) -> FormatError:
    return FormatError(
        f"array {name!r} is as long as the {count} edges and as the {count} nodes; say which it belongs to: "
        f"--edge-arrays {name} (edge_arrays in Python) or --node-arrays {name}"
    )


def feature_names(bipartite: bool) -> tuple[str, ...]:
    """Return the names of the arrays with node attributes: one, or one for each end of two kinds."""
    return ("x_source", "x_target") if bipartite else ("x",)


def ends_of(arrays: Mapping[str, Array], source: str | None, target: str | None, path: Path) -> tuple[str, ...]:
    """Return the names of the arrays with the edges: `edge_index`, `indptr` and `indices`, or two arrays of ids."""
    if source is None and "edge_index" in arrays:
        return ("edge_index",)
    if source is None and "indptr" in arrays and "indices" in arrays:
        return ("indptr", "indices")
    try:
        return choose_ends(list(arrays), source, target, path)
    except FormatError as error:
        if source is not None:
            raise
        names = str(error).removeprefix(f"{path}: no columns ")
        raise FormatError(f"{path}: no array edge_index of shape [2, E], and no arrays {names}") from None


def rows_of(arrays: Mapping[str, Array], path: Path) -> Literal["source", "target"]:
    """Return which end the compressed rows are."""
    rows = str(arrays["rows"]) if "rows" in arrays else "source"
    if rows not in ("source", "target"):
        raise FormatError(f'{path}: rows must be "source" or "target", got {rows[:40]!r}')
    return "source" if rows == "source" else "target"


def node_count(array: Array | None, path: Path) -> int | tuple[int, int] | None:
    """Return the number of nodes that an array `num_nodes` says, or the pair of a bipartite graph."""
    if array is None:
        return None
    if array.dtype.kind not in "iu" or array.size not in (1, 2) or int(array.min()) < 0:
        raise FormatError(f"{path}: num_nodes must be one whole number >= 0, or two, got {array.dtype} {array.shape}")
    values = [int(value) for value in array.reshape(-1)]
    return values[0] if len(values) == 1 else (values[0], values[1])


def merge_counts(
    options: EdgeOptions, stored: int | tuple[int, int] | None
) -> tuple[int | None, tuple[int | None, int | None] | None]:
    """Return (number of nodes of one kind, numbers of two kinds): as the caller says, else as the file has it."""
    if not options.two_kinds and not isinstance(stored, tuple):
        return split_nodes(stored if options.num_nodes is None else options.num_nodes, False)
    pairs = [count if isinstance(count, tuple) else (count, count) for count in (options.num_nodes, stored)]
    first, second = (ours if ours is not None else theirs for ours, theirs in zip(*pairs, strict=True))
    return None, (first, second)
