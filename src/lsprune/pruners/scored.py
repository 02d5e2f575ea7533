"""Pruners that let every owner keep its edges of best score: what happens to ties, and the scores as numbers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from lsprune.checks import check_choice
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners.contract import LocalPruner
from lsprune.selection.choose import KeySource, edge_keys
from lsprune.selection.owners import group

ALL_EDGES_OF_OWNER = 'ties="keep" must see all edges of an owner at once'


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoredPruner(LocalPruner):
    """A local pruner that orders the edges of an owner by one score.

    Args:
        ties: "hash": edges of equal score are ordered by a hash of the neighbour, and the budget is met; "keep": all
            edges tied with the last one that the budget keeps stay too. Not with `keep`, which is exact.
    """

    ties: Literal["hash", "keep"] = "hash"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("ties", self.ties, ("hash", "keep"))
        if self.ties == "keep" and self.keep is not None:
            raise OptionError('ties must be "hash" with keep, which is met to the edge; use k or budget=PerNode(...)')

    @property
    @abstractmethod
    def score_needs(self) -> Needs:
        """Say what the scores are made of."""

    @abstractmethod
    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return one key for each edge, the smallest of the best edges."""

    @abstractmethod
    def scores_of_keys(self, keys: Array) -> Array:
        """Return the scores that these keys stand for, float64."""

    @property
    def needs(self) -> Needs:
        """Say what the scores are made of; with ties="keep", that an owner's edges are needed all at once."""
        needs = self.score_needs
        if self.ties == "hash":
            return needs
        reason = needs.reason or ALL_EDGES_OF_OWNER
        return replace(needs, scope="neighbourhood" if needs.scope == "edge" else needs.scope, reason=reason, gpu=False)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the keys, and whether ties are kept."""
        source = self.score_source(graph, owned, runtime)
        return source if self.ties == "hash" else replace(source, keep_ties=True)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the score of each edge; NaN for self-loops that do not count."""
        owned = group(graph, self, runtime)
        owners, slots = owned.indptr.shape[0] - 1, owned.neighbour.shape[0]
        out = np.full(graph.num_edges, np.nan)
        if slots:
            keys = edge_keys(self.score_source(graph, owned, runtime).keys(0, 1, 1), owned, 0, owners)[:, 0]
            out[owned.edges(0, slots)] = self.scores_of_keys(keys)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data; `ties` only if it is not the default."""
        options = super().to_dict()
        return options if self.ties != "hash" else {name: value for name, value in options.items() if name != "ties"}
