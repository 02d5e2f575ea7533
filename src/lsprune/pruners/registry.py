"""All pruners by name: LSP, `Guarded`, and the baselines, which add themselves."""

from __future__ import annotations

import os
from typing import Any

from lsprune.checks import shown
from lsprune.errors import FormatError, OptionError
from lsprune.pruners.contract import Pruner
from lsprune.pruners.saved import read_saved
from lsprune.registry import Registry

PRUNERS: Registry[Pruner] = Registry("method")


def from_dict(options: dict[str, Any]) -> Pruner:
    """Build the pruner that `Pruner.to_dict` described, of whatever method."""
    return PRUNERS.find(options.get("method", "")).from_dict(options)


def load(path: str | os.PathLike[str]) -> Pruner:
    """Load the pruner that `Pruner.save` wrote, of whatever method."""
    document, arrays = read_saved(path)
    name = document["pruner"].get("method")
    try:
        found = PRUNERS.find(name)
    except OptionError:
        raise FormatError(f"{path} does not hold a pruner that is known here, got method {shown(name)}") from None
    return found.from_saved(path, document, arrays)
