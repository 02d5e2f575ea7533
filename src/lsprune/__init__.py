"""Locality-sensitive pruning of graphs: fewer edges, the same neighbourhoods."""

from __future__ import annotations

from lsprune._version import __version__
from lsprune.api import prune
from lsprune.baselines import First, LocalRandom, NoEdges, Random
from lsprune.errors import (
    BipartiteWarning,
    BudgetWarning,
    ConstantWarning,
    FormatError,
    GraphError,
    IsolatedWarning,
    LspruneError,
    LspruneWarning,
    MissingDependency,
    OptionError,
    SymmetryWarning,
)
from lsprune.graph import Graph
from lsprune.hashing import (
    FAMILIES,
    Auto,
    Bins,
    Both,
    Codebook,
    Identity,
    Projection,
    Signs,
    Structure,
    Threshold,
)
from lsprune.pruners import LSP, PRUNERS, Guarded, load
from lsprune.pruners.explanation import Explanation

__all__ = [
    "FAMILIES", "LSP", "PRUNERS", "Auto", "Bins", "BipartiteWarning", "Both", "BudgetWarning", "Codebook",
    "ConstantWarning", "Explanation", "First", "FormatError", "Graph", "GraphError", "Guarded", "Identity",
    "IsolatedWarning", "LocalRandom", "LspruneError", "LspruneWarning", "MissingDependency", "NoEdges", "OptionError",
    "Projection", "Random", "Signs", "Structure", "SymmetryWarning", "Threshold", "__version__", "load", "prune",
]  # fmt: skip
