"""Baselines, one a file, and the registry of all methods. To add one: write the file, add its class to METHODS."""

from __future__ import annotations

from typing import Any

from lsprune.baselines.cosine import Cosine
from lsprune.baselines.degree import LocalDegree, LowDegree
from lsprune.baselines.dspar import DSpar
from lsprune.baselines.effective_resistance import EffectiveResistance
from lsprune.baselines.first import First
from lsprune.baselines.jaccard import Jaccard
from lsprune.baselines.local_random import LocalRandom
from lsprune.baselines.no_edges import NoEdges
from lsprune.baselines.random import Random
from lsprune.baselines.spanning_forest import SpanningForest
from lsprune.baselines.top_weight import TopWeight
from lsprune.baselines.whole import WholeGraph
from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.pruners import LSP, Pruner

_ALL: tuple[type[Pruner], ...] = (
    LSP, Random, LocalRandom, First, LowDegree, LocalDegree, Jaccard, Cosine, TopWeight, DSpar, EffectiveResistance,
    SpanningForest, NoEdges,
)  # fmt: skip
METHODS: dict[str, type[Pruner]] = {method.name: method for method in _ALL}


def method(name: str) -> type[Pruner]:
    """The pruner class of that name."""
    if name not in METHODS:
        raise OptionError(f"method must be one of {', '.join(METHODS)}, got {shown(name)}")
    return METHODS[name]


def from_dict(options: dict[str, Any]) -> Pruner:
    """The pruner that `Pruner.to_dict` described, of whatever method."""
    return method(str(options.get("method", ""))).from_dict(options)


__all__ = [
    "METHODS", "Cosine", "DSpar", "EffectiveResistance", "First", "Jaccard", "LocalDegree", "LocalRandom", "LowDegree",
    "NoEdges", "Random", "SpanningForest", "TopWeight", "WholeGraph", "from_dict", "method",
]  # fmt: skip
