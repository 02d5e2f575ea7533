"""Pruners: the contract, LSP and its presets, `Guarded`, `Timed`, `SharedBudget`, and all pruners by name."""

from __future__ import annotations

from lsprune.pruners.contract import BudgetedPruner, LocalPruner, PerOwner, Pruner

from lsprune.pruners.lsp import LSP  # isort: skip  (first in the registry)
from lsprune.pruners.fitted import FittedLSP
from lsprune.pruners.guarded import Guarded
from lsprune.pruners.presets import PaperLSP
from lsprune.pruners.registry import PRUNERS, from_dict, load, pruner
from lsprune.pruners.shared_budget import SharedBudget
from lsprune.pruners.timed import Timed

__all__ = [
    "LSP", "PRUNERS", "BudgetedPruner", "FittedLSP", "Guarded", "LocalPruner", "PaperLSP", "PerOwner", "Pruner",
    "SharedBudget", "Timed", "from_dict", "load", "pruner",
]  # fmt: skip
