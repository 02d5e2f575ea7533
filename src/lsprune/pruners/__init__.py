"""Pruners: the contract (`contract`), LSP (`lsp`), shared option checks (`options`), saving (`saved`)."""

from __future__ import annotations

from lsprune.pruners.contract import Budgeted, Local, Pruner
from lsprune.pruners.lsp import LSP

__all__ = ["LSP", "Budgeted", "Local", "Pruner"]
