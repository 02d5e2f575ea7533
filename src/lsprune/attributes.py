"""How an edge is described to a hash: the paper's [owner, edge, neighbour], or some of these parts (appendix A).

A part is a set of attribute rows and, for every node or edge, the row that describes it. Vectors are their own rows.
One column of integers is a category (`is_category`): its rows are those of a random matrix M, so that hash families
need not tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import plain
from lsprune.numeric.normal_table import UNIT, normal
from lsprune.numeric.random_numbers import CATEGORY, draw

PARTS = ("owner", "edge", "neighbour")
FLOATS = {"edge_attr": " (--float-edge-attr for those of --edge-attr)"}  # how the command line does it
MOST_CATEGORIES = 1 << 16  # values that a category may have even with fewer than a quarter as many rows
WIDEST_CATEGORY = 1024  # columns of M at most: longer random vectors are not noticeably closer to orthogonal


def is_category(values: Any) -> bool:
    """Return whether attributes are a category: one column of integers, `[n]` or `[n, 1]`, not scipy.sparse.

    >>> is_category(np.array([3, 1])), is_category(np.array([[3], [1]])), is_category(np.array([3.0, 1.0]))
    (True, True, False)
    """
    if values is None or hasattr(values, "tocsr") or not _is_integer(values.dtype):
        return False
    return values.ndim == 1 or bool(values.shape[1:] == (1,))


def _is_integer(dtype: Any) -> bool:
    """Return whether this is an integer type, of numpy or torch; booleans are none."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "iu"
    return not (dtype.is_floating_point or dtype.is_complex) and "bool" not in str(dtype)


@dataclass(frozen=True, eq=False)
class DenseRows:
    """Rows of a numpy array or a tensor, read as float32."""

    name: str
    values: Array  # [count, dim]

    @property
    def count(self) -> int:
        return int(self.values.shape[0])

    @property
    def dim(self) -> int:
        return int(self.values.shape[1])

    def block(self, lo: int, hi: int) -> Array:
        return _float32(self.values[lo:hi])

    def take(self, ids: Array) -> Array:
        return _float32(self.values[ids])


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a scipy.sparse matrix; they give the same integers as dense rows."""

    name: str
    values: Any  # CSR without duplicates

    @property
    def count(self) -> int:
        return int(self.values.shape[0])

    @property
    def dim(self) -> int:
        return int(self.values.shape[1])

    def block(self, lo: int, hi: int) -> Array:
        return _float32(self.values[lo:hi].toarray())

    def take(self, ids: Array) -> Array:
        return _float32(self.values[ids].toarray())

    def compressed(self, lo: int, hi: int) -> tuple[Array, Array, Array]:
        """Return the rows lo..hi in CSR: indptr from 0, column numbers, float32 values."""
        indptr = self.values.indptr[lo : hi + 1].astype(np.int64)
        start, stop = int(indptr[0]), int(indptr[-1])
        return indptr - start, plain(self.values.indices[start:stop]), _float32(self.values.data[start:stop])


@dataclass(frozen=True, eq=False)
class CategoryRows:
    """Rows of the random matrix M: normal values keyed by (seed, node or edge, value, coordinate)."""

    name: str
    size: int  # number of values m
    kind: int
    seed: int
    values: Array | None = None  # the values that have a row here; None: all

    @property
    def count(self) -> int:
        return self.size if self.values is None else int(self.values.shape[0])

    @property
    def dim(self) -> int:
        return min(self.size, WIDEST_CATEGORY)

    def block(self, lo: int, hi: int) -> Array:
        return self.take(np.arange(lo, hi))

    def take(self, ids: Array) -> Array:
        values = ids if self.values is None else self.values[ids]
        draws = draw(self.seed, CATEGORY, self.kind, values[:, None], np.arange(self.dim)[None, :])
        return (normal(draws).astype(np.float32)) / np.float32(UNIT)


AnyRows = DenseRows | SparseRows | CategoryRows


@dataclass(frozen=True, eq=False)
class Part:
    """One part of an edge's description: rows, and the row of each node or edge (None: its own)."""

    rows: AnyRows
    index: Array | None = None

    @property
    def categories(self) -> int:
        """Number of category values; 0 for vectors."""
        return self.rows.size if isinstance(self.rows, CategoryRows) else 0

    def rows_of(self, items: Array) -> Array:
        """Return the row numbers of some nodes or edges."""
        return items if self.index is None else self.index[items]


def describe(
    graph: Graph, side: str, asked: tuple[str, ...], *, seed: int, sizes: Mapping[str, int] | None = None,
    occurring: bool = False,
) -> dict[str, Part]:  # fmt: skip
    """Return the parts that describe the edges of `graph`, in the order owner, edge, neighbour.

    Args:
        asked: names of PARTS. Those that the graph lacks are left out; if none is left, those that exist are used.
        sizes: category counts that `fit` found (0: a vector); default: those of the graph.
        occurring: give a category with far more values than the graph has nodes or edges only the rows that occur.
    """
    own, other = oriented(side, graph.x_source, graph.x_target)
    attributes = {"owner": own, "edge": graph.edge_attr, "neighbour": other}
    present = [role for role in PARTS if attributes[role] is not None]
    if not present:
        what = "the graph" if graph.relation is None else f"relation {graph.relation}"
        raise GraphError(
            f"{what} has neither node attributes (x) nor edge attributes (edge_attr), which this hash family needs;"
            " give it some, as with prune(..., features=x) or --features, or use a family that needs none:"
            ' hash="identity" or "structure" (--hash identity)'
        )
    roles = [role for role in present if role in asked] or [role for role in present if role != "owner"] or present
    parts: dict[str, Part] = {}
    for role in roles:
        size = None if sizes is None else sizes.get(role)
        same = parts.get("owner") if role == "neighbour" and own is other else None
        parts[role] = same or _part(attributes[role], role, seed, size, occurring)
    return parts


def _part(values: Any, role: str, seed: int, size: int | None, occurring: bool) -> Part:
    name = "edge_attr" if role == "edge" else "x"
    if hasattr(values, "tocsr"):
        return Part(SparseRows(name, _canonical(values)))
    if is_category(values):
        return _category(values.reshape(-1), name, 1 if role == "edge" else 0, seed, size, occurring)
    if size:
        raise GraphError(f"{name} must be a category (one integer column) as when fitted, got {list(values.shape)}")
    return Part(DenseRows(name, values.reshape(values.shape[0], math.prod(values.shape[1:]))))


def _canonical(matrix: Any) -> Any:
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _category(column: Array, name: str, kind: int, seed: int, size: int | None, occurring: bool) -> Part:
    count = int(column.shape[0])
    least, most = (int(column.min()), int(column.max())) if count else (0, -1)
    rows = category_rows(name, kind, seed, least, most, count, size)
    if not occurring or rows.size <= max(MOST_CATEGORIES, 4 * count) or not isinstance(column, np.ndarray):
        return Part(rows, column)
    values, index = np.unique(column, return_inverse=True)
    return Part(replace(rows, values=values), index)


def category_rows(
    name: str, kind: int, seed: int, least: int, most: int, count: int, size: int | None = None
) -> CategoryRows:
    """Return the rows of M for a column of `count` values from `least` to `most`; `size` is what `fit` found."""
    if size == 0:
        raise GraphError(f"{name} must be a vector as when fitted, got one integer column, which is a category")
    values = most + 1 if size is None else size
    if least < 0 or most >= values:
        wrong = least if least < 0 else most
        known = f"in [0, {values})" if size is not None else ">= 0"
        raise GraphError(f"{name} as a category must be {known}{' as fitted' * (size is not None)}, got {wrong}")
    if size is None and values > max(MOST_CATEGORIES, 4 * count):
        raise GraphError(
            f"{name} is one integer column, so a category, but has values up to {most}; if they are quantities such as "
            f"times or counts, make them floats{FLOATS.get(name, '')}"
        )
    return CategoryRows(name, max(values, 1), kind, seed)


def _float32(values: Array) -> Array:
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which is then refused by name
        return plain(np.ascontiguousarray(values, dtype=np.float32))
