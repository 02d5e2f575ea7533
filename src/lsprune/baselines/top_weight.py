"""Keep the edges of largest weight of each owner, for graphs whose edges have weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.checks import MOST_WHOLE, set_whole
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import is_tensor
from lsprune.pruners import LocalPruner
from lsprune.selection.choose import KeySource


@dataclass(frozen=True, kw_only=True, repr=False)
class TopWeight(LocalPruner):
    """Every owner keeps its k edges of largest weight; a hash of the neighbour breaks ties.

    Weights are a column of `edge_attr`, compared exactly in its own type. A file reader joins several columns in one
    type (int64 and float64 become float64): read a column of integers beyond 2^53 alone. Negate distances, so that
    short edges are kept.

    Args:
        column: number of the column of `edge_attr`; None if it has only one.

    >>> TopWeight(k=3)
    TopWeight(k=3)
    """

    name: ClassVar[str] = "top-weight"
    about: ClassVar[str] = "the k edges per owner with the largest weight (a column of edge_attr)"

    column: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_whole(self, "column", 0, MOST_WHOLE, "a whole number in [0, 2^63) or None", none=True)

    @property
    def needs(self) -> Needs:
        """Say that edge attributes are compared in their own type."""
        return Needs(edge=True, own_type=True, gpu=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return keys that fall as the weight rises."""
        weights = self._weights(graph) if graph.num_edges else np.empty(0, np.int64)
        if is_tensor(weights):
            compares = self.k != 0 or self.symmetric is None  # no pair is looked at if no owner may keep an edge
            keys = import_module("lsprune.device.edge_keys").weight_keys(owned, weights, check=compares)
            return KeySource.of_edges(keys)

        def keys_of_owners(lo: int, hi: int) -> Array:
            ids = owned.edges(int(owned.indptr[lo]), int(owned.indptr[hi]))
            return descending(weights[ids], ids)

        return KeySource.of_edges(keys_of_owners)

    def _weights(self, graph: Graph) -> Array:
        """Return the column of weights; raise GraphError if there is none such."""
        values: Any = graph.edge_attr
        if values is None:
            raise GraphError("the graph has no edge attributes (edge_attr), which top-weight needs as weights")
        columns = math.prod(values.shape[1:])
        if self.column is None and columns != 1:
            raise GraphError(f"edge_attr must have one column for top-weight, got {columns}; choose one with column=")
        column = self.column or 0
        if column >= columns:
            raise GraphError(f"edge_attr must have a column {column} for top-weight, got {columns} columns")
        if hasattr(values, "tocsr"):
            return np.asarray(values.tocsc()[:, [column]].toarray()[:, 0])
        weights: Array = values.reshape(values.shape[0], columns)[:, column]
        return weights if is_tensor(weights) else np.asarray(weights)


def descending(weights: Array, ids: Array) -> Array:
    """Return int64 keys that fall as the weights rise: exact for every type, equal for 0.0 and -0.0.

    Args:
        ids: the edges, for error messages.
    """
    if weights.dtype.kind == "u" and weights.dtype.itemsize == 8:
        return ~(weights ^ np.uint64(1 << 63)).view(np.int64)
    if weights.dtype.kind != "f":
        return ~weights.astype(np.int64)
    with np.errstate(over="ignore"):
        double = weights.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    finite = np.isfinite(weights)
    if not finite.all():
        row = int(np.argmin(finite))
        raise GraphError(f"edge_attr must be finite, got {weights[row]} in row {int(ids[row])}")
    if weights.dtype.itemsize > 8 and np.any(double != weights):
        raise GraphError(f"edge_attr must be float64 or narrower for top-weight, got {weights.dtype}")
    # Read as integers, the bit patterns of floats >= 0 are in the order of the floats, those of negative ones reversed.
    bits = double.view(np.int64)
    return np.asarray(~np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits))
