"""Keep the edges of largest weight of each owner: a column of the graph, or an edge weight such as Jaccard * Degree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.checks import shown
from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing import Constant
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import is_tensor
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT
from lsprune.pruners import LSP, PerOwner, Pruner, load
from lsprune.pruners.contract import SAME_EDGES, ScaleOf
from lsprune.pruners.scored import ScoredPruner
from lsprune.selection.choose import KeySource
from lsprune.selection.rules import SelectionRules
from lsprune.weights import Weight, weight
from lsprune.weights.column import edge_values, set_column
from lsprune.weights.comparison import Comparison


@dataclass(frozen=True, kw_only=True, repr=False)
class TopWeight(ScoredPruner):
    """Every owner keeps its k edges of largest weight; a hash of the neighbour breaks ties.

    By default weights are those that the graph has: the values of a sparse matrix, `edge_weight` of a PyG object,
    `weight` of a NetworkX graph; else `edge_attr` if it has one column. They are compared exactly in their own type and
    may be negative or zero; a weight that is not finite is an error. A file reader joins several columns in one type
    (int64 and float64 become float64): read a column of integers beyond 2^53 alone. Negate distances, so that short
    edges are kept.

    With `weights` the pruner is an `LSP` with `hash="constant"`, and `fit` returns a fitted one.

    Args:
        column: number of a column of `edge_attr`, or the name of a column of the edges (of a table or a file, an
            attribute of a PyG, NetworkX or igraph object), such as a time: the last k edges; None: the weights of the
            graph.
        weights: an edge weight such as `Jaccard(power=0.5) * Degree(power=0.5)`, or its name, as for `LSP`; None: the
            column.

    >>> TopWeight(k=3), TopWeight(k=3, weights="jaccard:power=0.5*degree")
    (TopWeight(k=3), TopWeight(k=3, weights=Jaccard(power=0.5) * Degree(power=1.0)))
    """

    name: ClassVar[str] = "top-weight"
    about: ClassVar[str] = "the k edges per owner with the largest weight (the graph's own, or an edge weight)"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    column: int | str | None = None
    weights: Weight | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        chosen = weight(self.weights)
        object.__setattr__(self, "weights", chosen)
        if chosen is not None and (self.column is not None or chosen.chosen_by_fit):
            rule = "None with a column" if self.column is not None else "a weight that is chosen already"
            raise OptionError(f"weights must be {rule}, got {shown(chosen)}")
        set_column(self)
        if self.ties == "keep" and chosen is not None and chosen.learns:
            raise OptionError('ties must be "hash" with weights that are fitted: they are hardly ever equal')

    @property
    def score_needs(self) -> Needs:
        """Say that edge attributes are compared in their own type, or what the weights need."""
        if self.weights is not None:
            return self.scored.needs
        if isinstance(self.column, str):
            return Needs(edge_columns=(self.column,))
        return Needs(edge=True, own_type=True, gpu=True)

    @property
    def scored(self) -> LSP:
        """The same pruner as an `LSP` whose keys are the logarithms of the weights."""
        rules = {f.name: getattr(self, f.name) for f in fields(SelectionRules)}
        return LSP(**rules, hash=Constant(), weights=self.weights, select="bottom")

    @property
    def is_fitted(self) -> bool:
        """Whether the weights have nothing to learn."""
        return self.weights is None or self.scored.is_fitted

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Pruner:
        """Return a pruner whose weights have learned from `data`; one without such weights stays as it is."""
        if self.is_fitted:
            return self
        return self.scored.fit(data, categories=categories, threads=threads, executor=executor)

    def fit_graph(self, graph: Graph, runtime: Runtime) -> PerOwner:
        """Return what `fit` returns for a `Graph`."""
        return self if self.is_fitted else self.scored.fit_graph(graph, runtime)

    def fit_scales(self, template: Graph, scale_of: ScaleOf, edges: int) -> PerOwner:
        """Fit from scales that are computed elsewhere; see `PerOwner.fit_scales`."""
        return self if self.is_fitted else self.scored.fit_scales(template, scale_of, edges)

    def carrying(self) -> PerOwner:
        """Return the pruner to use where edges carry logarithms of weights."""
        return self if self.weights is None else self.scored.carrying()

    def comparisons(self) -> tuple[Comparison, ...]:
        """Say how the weights are computed where no task sees the whole graph."""
        return () if self.weights is None else self.scored.comparisons()

    def check_attributes(self, graph: Graph) -> None:
        """Raise GraphError if the graph lacks attributes that the weights compare."""
        if self.weights is not None:
            self.scored.check_attributes(graph)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pruner:
        """Load the pruner that `save` wrote, fitted (as an `LSP`) or not; raise FormatError for another pruner."""
        loaded = load(path)
        options = getattr(loaded, "options", loaded)
        if not isinstance(options, cls) and getattr(options, "hash", None) != Constant():
            raise FormatError(f"{path} does not hold a valid {cls.name} pruner: it holds {loaded.name}")
        return loaded

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; those of the weights as a table."""
        weights = None if self.weights is None else self.weights.to_dict()  # type: ignore[union-attr]
        return {**super().to_dict(), "weights": weights}

    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return keys that fall as the weight rises."""
        if self.weights is not None:
            return self.scored.key_source(graph, owned, runtime)
        weights = edge_values(graph, self.column, self.name) if graph.num_edges else np.empty(0, np.int64)
        name = "edge_weight" if weights is graph.edge_weight else "edge_attr"
        name = f"column {self.column!r}" if isinstance(self.column, str) else name
        if is_tensor(weights):
            compares = self.k != 0 or self.symmetric is None  # no pair is looked at if no owner may keep an edge
            keys = import_module("lsprune.device.edge_keys").weight_keys(owned, weights, check=compares, name=name)
            return KeySource.of_edges(keys)

        def keys_of_owners(lo: int, hi: int) -> Array:
            ids = owned.edges(int(owned.indptr[lo]), int(owned.indptr[hi]))
            return descending(weights[ids], ids, name)

        return KeySource.of_edges(keys_of_owners)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the weight of each edge, in its own type; the largest are kept."""
        if self.weights is None:
            return np.array(edge_values(graph, self.column, self.name)) if graph.num_edges else np.empty(0)
        return self.scored.edge_scores(graph, runtime)

    def scores_of_keys(self, keys: Array) -> Array:
        """Return the weights that these keys are logarithms of."""
        return np.exp2(-keys / EXACT_LOG_UNIT)


def descending(weights: Array, ids: Array, name: str = "edge_attr") -> Array:
    """Return int64 keys that fall as the weights rise: exact for every type, equal for 0.0 and -0.0.

    Args:
        ids, name: the edges and what holds their weights, for error messages.
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
        raise GraphError(f"{name} must be finite, got {weights[row]} in row {int(ids[row])}")
    if weights.dtype.itemsize > 8 and np.any(double != weights):
        raise GraphError(f"{name} must be float64 or narrower for top-weight, got {weights.dtype}")
    # Read as integers, the bit patterns of floats >= 0 are in the order of the floats, those of negative ones reversed.
    bits = double.view(np.int64)
    return np.asarray(~np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits))
