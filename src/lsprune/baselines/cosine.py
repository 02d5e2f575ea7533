"""The neighbours whose attributes are most like the owner's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.attributes import AnyRows, Part, SparseRows, describe
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, check_row, plain
from lsprune.needs import Needs
from lsprune.pruners import LocalPruner
from lsprune.selection.choose import KeySource

_ROWS = 1 << 11  # rows a thread takes at a time


@dataclass(frozen=True, kw_only=True, repr=False)
class Cosine(LocalPruner):
    """Every owner keeps the k neighbours whose rows of `x` have the largest cosine with its own, equal ones by a hash.

    Rows are divided by their length and cut to whole multiples of 2^-14, and the products are whole numbers, so that
    the same neighbours win on every machine; a row of zeros has cosine 0 with all. A table of such rows is kept, half
    the size of `x` as float32. One integer column is a category, and two nodes of one category are alike; one float
    column leaves nothing but the sign.

    >>> Cosine(k=3)
    Cosine(k=3)
    """

    name: ClassVar[str] = "cosine"
    about: ClassVar[str] = "the k neighbours of most similar attributes per owner"

    @property
    def needs(self) -> Needs:
        """Say that the attributes of both ends must be known."""
        return Needs(owner=True, neighbour=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """The product of the two rows as key, turned round."""
        if graph.num_edges == 0:
            return KeySource.of_edges(lambda lo, hi: np.empty(0, np.int64))
        own, other = _parts(graph, self.side, self.seed)
        dots = _products(own.rows, other.rows, runtime)

        def of(lo: int, hi: int) -> Array:
            neighbour = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
            return -dots(own.rows_of(owned.owners(lo, hi)), other.rows_of(neighbour))

        return KeySource.of_edges(of)


def _parts(graph: Graph, side: str, seed: int) -> tuple[Part, Part]:
    """The attributes of owners and of neighbours; the same object unless these are nodes of two kinds."""
    lacking = [name for name, x in (("source", graph.x_source), ("target", graph.x_target)) if x is None]
    if lacking:
        whose = f" of its {' and '.join(lacking)} nodes" if graph.bipartite else ""
        raise GraphError(f"the graph has no node attributes (x){whose}, which cosine compares")
    parts = describe(graph, side, ("owner", "neighbour"), seed=seed)
    own, other = parts["owner"], parts["neighbour"]
    if own.rows.dim != other.rows.dim:
        raise GraphError(
            f"x must have as many columns for owners as for neighbours to compare them with cosine, got"
            f" {own.rows.dim} and {other.rows.dim}"
        )
    return own, other


def _products(own: AnyRows, other: AnyRows, runtime: Runtime) -> Callable[[Array, Array], Array]:
    """A function from rows of owners and rows of neighbours to the products of their unit rows, int64."""
    module, sparse = runtime.module, isinstance(own, SparseRows) and isinstance(other, SparseRows)
    table = _sparse if sparse else _dense
    first = table(own, runtime)
    second = first if other is own else table(other, runtime)
    kernel = module.dot_sparse if sparse else module.dot_dense

    def dots(rows: Array, columns: Array) -> Array:
        out = np.empty(rows.shape[0], np.int64)
        kernel(*first, *second, plain(rows), plain(columns), out)
        return out

    return dots


def _dense(rows: AnyRows, runtime: Runtime) -> tuple[Array, ...]:
    out = runtime.zeros((rows.count, rows.dim), np.int16)

    def one(block: Array, lo: int, hi: int) -> int:
        begins = np.arange(hi - lo + 1) * rows.dim
        return int(runtime.module.unit_values(begins, block.reshape(-1), out[lo:hi].reshape(-1)))

    runtime.over_rows(rows, one)
    return (out,)


def _sparse(rows: AnyRows, runtime: Runtime) -> tuple[Array, ...]:
    assert isinstance(rows, SparseRows)
    indptr, out = rows.values.indptr.astype(np.int64), np.empty(rows.values.indices.shape[0], np.int16)

    def one(lo: int, hi: int) -> None:
        begins, _, values = rows.compressed(lo, hi)
        check_row(rows, lo, runtime.module.unit_values(begins, values, out[indptr[lo] : indptr[hi]]))

    runtime.spread(rows.count, one, _ROWS)
    return indptr, plain(rows.values.indices), out
