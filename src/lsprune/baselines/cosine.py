"""Keep the neighbours whose attributes have the largest cosine similarity with the owner's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.attributes import AnyRows, Part, SparseRows, describe
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, check_row, plain
from lsprune.needs import Needs
from lsprune.pruners.contract import SAME_EDGES
from lsprune.pruners.scored import ScoredPruner
from lsprune.selection.choose import KeySource

_BLOCK_ROWS = 1 << 11  # rows a thread takes at a time


@dataclass(frozen=True, kw_only=True, repr=False)
class Cosine(ScoredPruner):
    """Every owner keeps the k neighbours whose rows of `x` have the largest cosine with its own; a hash breaks ties.

    Rows are L2-normalised and truncated to multiples of 2^-14, and products are integers, so that the result is the
    same on every machine. A row of zeros has cosine 0 with all others. The normalised rows take half the size of `x` as
    float32. One integer column is a category: two nodes of one category have cosine 1. Of one float column only the
    sign counts.

    >>> Cosine(k=3)
    Cosine(k=3)
    """

    name: ClassVar[str] = "cosine"
    about: ClassVar[str] = "the k neighbours per owner with the most similar attributes (cosine)"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    @property
    def score_needs(self) -> Needs:
        """Say that keys depend on the attributes of both ends."""
        return Needs(owner=True, neighbour=True, gpu=True)

    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the negated product of the two unit rows as key."""
        if graph.num_edges == 0:
            return KeySource.of_edges(lambda lo, hi: np.empty(0, np.int64))
        own, other = _parts(graph, self.side, self.seed)
        if runtime.device is not None:
            return KeySource.of_edges(import_module("lsprune.device.edge_keys").cosine_keys(owned, own, other, runtime))
        products = _products(own.rows, other.rows, runtime)

        def keys_of_owners(lo: int, hi: int) -> Array:
            neighbour = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
            return -products(own.rows_of(owned.owners(lo, hi)), other.rows_of(neighbour))

        return KeySource.of_edges(keys_of_owners)

    def scores_of_keys(self, keys: Array) -> Array:
        """Return the cosine of the attributes of the ends; the largest are kept."""
        return -keys / 2.0**28


def _parts(graph: Graph, side: str, seed: int) -> tuple[Part, Part]:
    """Return the attributes of owners and of neighbours; raise GraphError if they cannot be compared."""
    missing = [name for name, x in (("source", graph.x_source), ("target", graph.x_target)) if x is None]
    if missing:
        whose = f" of its {' and '.join(missing)} nodes" if graph.bipartite else ""
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
    """Return a function from row numbers of owners and neighbours to the products of their unit rows, int64."""
    module, sparse = runtime.module, isinstance(own, SparseRows) and isinstance(other, SparseRows)
    normalise = _sparse_units if sparse else _dense_units
    first = normalise(own, runtime)
    second = first if other is own else normalise(other, runtime)
    kernel = module.dot_sparse if sparse else module.dot_dense

    def products(rows: Array, others: Array) -> Array:
        out = np.empty(rows.shape[0], np.int64)
        kernel(*first, *second, plain(rows), plain(others), out)
        return out

    return products


def _dense_units(rows: AnyRows, runtime: Runtime) -> tuple[Array, ...]:
    """Return the table `[rows, columns]` of unit rows in 2^-14, int16."""
    out = runtime.zeros((rows.count, rows.dim), np.int16)

    def normalise(block: Array, lo: int, hi: int) -> int:
        begins = np.arange(hi - lo + 1) * rows.dim
        return int(runtime.module.unit_values(begins, block.reshape(-1), out[lo:hi].reshape(-1)))

    runtime.over_rows(rows, normalise)
    return (out,)


def _sparse_units(rows: AnyRows, runtime: Runtime) -> tuple[Array, ...]:
    """Return the unit rows as CSR (indptr, indices, values in 2^-14 as int16)."""
    assert isinstance(rows, SparseRows)
    indptr, out = rows.values.indptr.astype(np.int64), np.empty(rows.values.indices.shape[0], np.int16)

    def normalise(lo: int, hi: int) -> None:
        begins, _, values = rows.compressed(lo, hi)
        check_row(rows, lo, runtime.module.unit_values(begins, values, out[indptr[lo] : indptr[hi]]))

    runtime.spread(rows.count, normalise, _BLOCK_ROWS)
    return indptr, plain(rows.values.indices), out
