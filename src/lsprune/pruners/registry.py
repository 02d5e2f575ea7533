"""All pruners by name: LSP, `Guarded`, and the baselines, which add themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from lsprune.checks import shown
from lsprune.errors import FormatError, OptionError
from lsprune.pruners.contract import Pruner
from lsprune.pruners.saved import read_saved
from lsprune.registry import Registry

PRUNERS: Registry[Pruner] = Registry("pruner")


def from_dict(options: Mapping[str, Any]) -> Pruner:
    """Build the pruner that `Pruner.to_dict` described, of whatever kind."""
    return PRUNERS.find(options.get("pruner", "")).from_dict(options)


def load(path: str | os.PathLike[str]) -> Pruner:
    """Load the pruner that `Pruner.save` wrote, of whatever kind."""
    document, arrays = read_saved(path)
    name = document["pruner"].get("pruner")
    try:
        found = PRUNERS.find(name)
    except OptionError:
        raise FormatError(f"{path} does not hold a pruner that is known here, got {shown(name)}") from None
    return found.from_saved(path, document, arrays)
