"""Locality-sensitive pruning of graphs: fewer edges, the same neighbourhoods."""

from __future__ import annotations

from lsprune._version import __version__
from lsprune.apply import prune
from lsprune.baselines import METHODS, First, LocalRandom, NoEdges, Random
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
from lsprune.explain import Explanation
from lsprune.graph import Graph
from lsprune.guards import Guarded, load
from lsprune.hashing import FAMILIES, Auto, Bins, Both, Codebook, Identity, Projection, Signs, Structure, Threshold
from lsprune.pruners import LSP

__all__ = [
    "FAMILIES", "LSP", "METHODS", "Auto", "Bins", "BipartiteWarning", "Both", "BudgetWarning", "Codebook",
    "ConstantWarning", "Explanation", "First", "FormatError", "Graph", "GraphError", "Guarded", "Identity",
    "IsolatedWarning", "LocalRandom", "LspruneError", "LspruneWarning", "MissingDependency", "NoEdges", "OptionError",
    "Projection", "Random", "Signs", "Structure", "SymmetryWarning", "Threshold", "__version__", "load", "prune",
]  # fmt: skip
