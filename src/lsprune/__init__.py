"""Locality-sensitive pruning of graphs: fewer edges, the same neighbourhoods."""

from __future__ import annotations

from lsprune._version import __version__
from lsprune.api import explain, mask, prune
from lsprune.baselines import First, LocalRandom, NoEdges, Random
from lsprune.chooser import Choice, choose
from lsprune.errors import (
    BipartiteWarning,
    BudgetWarning,
    ConstantWarning,
    EdgeEntryWarning,
    FormatError,
    GraphError,
    IsolatedWarning,
    LabelsWarning,
    LinkSplitWarning,
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
    Constant,
    Identity,
    Projection,
    Signs,
    Structure,
    Threshold,
)
from lsprune.plugins import register
from lsprune.pruners import LSP, PRUNERS, FittedLSP, Guarded, PaperLSP, SharedBudget, Timed, load, pruner
from lsprune.pruners.explanation import Explanation
from lsprune.selection.per_node import PerNode
from lsprune.weights import WEIGHTS, Column, Degree, Jaccard, Labels, Product, Similarity

__all__ = [
    "FAMILIES", "LSP", "PRUNERS", "WEIGHTS", "Auto", "Bins", "BipartiteWarning", "Both", "BudgetWarning", "Choice",
    "Codebook", "Column", "Constant", "ConstantWarning", "Degree", "EdgeEntryWarning", "Explanation", "First",
    "FittedLSP", "FormatError", "Graph", "GraphError", "Guarded", "Identity", "IsolatedWarning", "Jaccard", "Labels",
    "LabelsWarning", "LinkSplitWarning", "LocalRandom", "LspruneError", "LspruneWarning", "MissingDependency",
    "NoEdges", "OptionError", "PaperLSP", "PerNode", "Product", "Projection", "Random", "SharedBudget", "Signs",
    "Similarity", "Structure", "SymmetryWarning", "Threshold", "Timed", "__version__", "choose", "explain", "load",
    "mask", "prune", "pruner", "register",
]  # fmt: skip
