"""Baselines, one a file, and the registry of all methods. To add one: write the file, add its class to METHODS."""

from __future__ import annotations

import os
from typing import Any

from lsprune.baselines.first import First
from lsprune.baselines.local_random import LocalRandom
from lsprune.baselines.no_edges import NoEdges
from lsprune.baselines.random import Random
from lsprune.errors import OptionError
from lsprune.pruners import LSP, Pruner
from lsprune.pruners.saved import read_saved

METHODS: dict[str, type[Pruner]] = {method.name: method for method in (LSP, Random, LocalRandom, First, NoEdges)}


def method(name: str) -> type[Pruner]:
    """The pruner class of that name."""
    if name not in METHODS:
        raise OptionError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return METHODS[name]


def from_dict(options: dict[str, Any]) -> Pruner:
    """The pruner that `Pruner.to_dict` described, of whatever method."""
    return method(str(options.get("method", ""))).from_dict(options)


def load(path: str | os.PathLike[str]) -> Pruner:
    """The pruner that `Pruner.save` wrote, of whatever method."""
    document, _ = read_saved(path)
    return method(str(document["pruner"].get("method", ""))).load(path)


__all__ = ["METHODS", "First", "LocalRandom", "NoEdges", "Random", "from_dict", "load", "method"]
