"""The pruners that `choose` tries: the baseline, the recommended one, then others by falling promise.

Their names are those of methods in `lsprune compare`, in its results and in `lsprune.lab.studies`: `top-` keeps the
edges of largest weight (a product of the weights named), `lsp-` is an LSP, and `-out` lets senders own their edges.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprune.baselines import LocalRandom, NoEdges
from lsprune.baselines.top_weight import TopWeight
from lsprune.checks import shown
from lsprune.chooser.known_labels import KnownLabels
from lsprune.errors import OptionError
from lsprune.graph import Graph
from lsprune.pruners import LSP, Pruner
from lsprune.weights import Degree, Jaccard, Labels, Similarity, Weight
from lsprune.weights.assortativity import are_assortative
from lsprune.weights.recommended import WITH_LABELS, WITHOUT_LABELS

UNPRUNED, NO_EDGES = "unpruned", NoEdges.name  # what all edges and no edges are called
BASELINE = LocalRandom.name  # k random neighbours: what others are compared with


@dataclass(frozen=True)
class Candidate:
    """A pruner to try; its budget and seed are set later."""

    name: str
    pruner: Pruner

    def at(self, keep: float, seed: int | None) -> Pruner:
        """Return the pruner with a share to keep, and with a seed unless that is None."""
        pruner = self.pruner.with_budget(keep=keep)
        return pruner if seed is None else dataclasses.replace(pruner, seed=seed)  # type: ignore[call-arg]

    @property
    def needs_labels(self) -> bool:
        """Whether the pruner learns from labels."""
        weights = getattr(self.pruner, "weights", None)
        return any(isinstance(factor, Labels) for factor in getattr(weights, "factors", (weights,)))

    def fits(self, graph: Graph) -> bool:
        """Return whether the graph has the attributes that the pruner looks at."""
        needs = self.pruner.needs
        attributes = needs.owner or needs.neighbour or bool(getattr(self.pruner, "hash", None) == LSP(k=1).hash)
        return graph.x_target is not None or not attributes


def _top(weights: Weight, **rules: Any) -> Pruner:
    return TopWeight(keep=0.5, weights=weights, **rules)


CANDIDATES: tuple[Candidate, ...] = (
    Candidate(BASELINE, LocalRandom(keep=0.5)),
    Candidate("top-labels-jaccard-degree", _top(WITH_LABELS)),
    Candidate("top-jaccard-similarity", _top(WITHOUT_LABELS)),
    Candidate("top-jaccard", _top(Jaccard())),
    Candidate("top-labels", _top(Labels())),
    Candidate("top-labels-jaccard-degree-out", _top(WITH_LABELS, side="out")),
    Candidate("top-similarity", _top(Similarity())),
    Candidate("top-low-degree", _top(Degree())),
    Candidate("top-jaccard-similarity-out", _top(WITHOUT_LABELS, side="out")),
    Candidate("lsp-projection", LSP(keep=0.5)),
    Candidate("lsp-codebook", LSP(keep=0.5, hash="codebook")),
)


def recommended_first(graph: Graph, labels: KnownLabels) -> tuple[Candidate, ...]:
    """Return all candidates, the one that `LSP.auto` uses on this graph right after the baseline."""
    baseline, with_labels, without_labels, *others = CANDIDATES
    learned = labels.training[labels.items]
    if are_assortative(graph, labels.items[learned], labels.targets[learned]):
        return CANDIDATES
    return (baseline, without_labels, with_labels, *others)


def own_candidates(candidates: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """Return the caller's own candidates, after the baseline.

    Args:
        candidates: pruners by name; their budget does not matter.
    """
    if not isinstance(candidates, Mapping):
        raise OptionError(f"candidates must be pruners by name, as {{'mine': pruner}}, got {shown(candidates)}")
    for name, pruner in candidates.items():
        budgeted = isinstance(pruner, Pruner) and hasattr(pruner, "keep")
        if name in (BASELINE, UNPRUNED, NO_EDGES):
            raise OptionError(f"candidates must have names of their own, got {name!r}, which is always tried")
        if not isinstance(name, str) or not budgeted or hasattr(pruner, "options"):
            raise OptionError(f"candidates must be pruners by name, not fitted, with a budget, got {shown(pruner)}")
    if not candidates:
        raise OptionError("candidates must be at least one pruner by name, got none")
    return (CANDIDATES[0], *(Candidate(name, pruner) for name, pruner in candidates.items()))
