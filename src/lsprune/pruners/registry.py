"""All pruners by name: LSP, `Guarded`, `Timed`, and the baselines, which add themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from lsprune.checks import shown
from lsprune.errors import FormatError, OptionError
from lsprune.pruners.contract import Pruner
from lsprune.pruners.saved import read_saved
from lsprune.registry import Registry
from lsprune.specs import parse_spec

PRUNERS: Registry[Pruner] = Registry("pruner")


def from_dict(options: Mapping[str, Any]) -> Pruner:
    """Build the pruner that `Pruner.to_dict` described, of whatever kind."""
    return PRUNERS.find(options.get("pruner", "")).from_dict(options)


def pruner(spec: str | Mapping[str, Any], **options: Any) -> Pruner:
    """Build a pruner from its name, with options or without, or from a table that `Pruner.to_dict` returned.

    >>> from lsprune import pruner
    >>> pruner("top-weight:column=2", k=3)
    TopWeight(k=3, column=2)
    """
    if isinstance(spec, str):
        table = parse_spec(spec)
        spec = {"pruner": table.pop("name"), **table}
    for name in options:
        if name in spec:
            raise OptionError(f"{name} must be given once, got it twice")
    return from_dict({**spec, **options})


def load(path: str | os.PathLike[str]) -> Pruner:
    """Load the pruner that `Pruner.save` wrote, of whatever kind."""
    document, arrays = read_saved(path)
    name = document["pruner"].get("pruner")
    try:
        found = PRUNERS.find(name)
    except OptionError:
        raise FormatError(f"{path} does not hold a pruner that is known here, got {shown(name)}") from None
    return found.from_saved(path, document, arrays)
