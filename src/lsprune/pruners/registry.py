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
    >>> pruner("guarded:pruner=(lsp:k=8),min_keep=1")
    Guarded(pruner=LSP(k=8), min_keep=1)
    """
    table = parse_spec(spec) if isinstance(spec, str) else dict(spec)
    for name in options:
        if name in table:
            raise OptionError(f"{name} must be given once, got it twice")
    table |= options
    return from_dict(table_of(table) if isinstance(spec, str) else table)


def table_of(parsed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `from_dict` takes from a parsed short form, in which options have the names that they have in Python.

    A table names the kind of the pruner under "pruner", and so the pruner within another under "inner".

    >>> table_of({"name": "guarded", "pruner": {"name": "lsp", "k": 8}, "min_keep": 1})
    {'pruner': 'guarded', 'min_keep': 1, 'inner': {'pruner': 'lsp', 'k': 8}}
    """
    rest = dict(parsed)
    name = rest.pop("name")
    if "inner" in rest:
        raise OptionError(f"inner is not an option of {name}: write {name}:pruner=(...), as in Python")
    if "pruner" not in rest:
        return {"pruner": name, **rest}
    inner = rest.pop("pruner")
    inner = parse_spec(inner) if isinstance(inner, str) else inner
    return {"pruner": name, **rest, "inner": table_of(inner) if isinstance(inner, Mapping) else inner}


def load(path: str | os.PathLike[str]) -> Pruner:
    """Load the pruner that `Pruner.save` wrote, of whatever kind."""
    document, arrays = read_saved(path)
    name = document["pruner"].get("pruner")
    try:
        found = PRUNERS.find(name)
    except OptionError:
        raise FormatError(f"{path} does not hold a pruner that is known here, got {shown(name)}") from None
    return found.from_saved(path, document, arrays)
