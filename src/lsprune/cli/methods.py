"""`lsprune methods`: list the pruners, hash families and edge weights, with their options."""

from __future__ import annotations

import dataclasses
from typing import Any

from lsprune.cli.console import Json, errors, registry_table, show


def methods_command(as_json: Json = False) -> None:
    """List the pruners, hash families and edge weights, with their options.

    Example: lsprune methods --json
    """
    with errors():
        from lsprune.hashing import FAMILIES
        from lsprune.pruners import PRUNERS
        from lsprune.registry import load_plugins
        from lsprune.selection.rules import SelectionRules
        from lsprune.weights import WEIGHTS

        load_plugins()
        shared = {f.name for f in dataclasses.fields(SelectionRules)}
        kinds = {
            "pruners": {name: _entry(kind, shared) for name, kind in PRUNERS.items()},
            "hash families": {name: _entry(kind, set()) for name, kind in FAMILIES.items()},
            "edge weights": {name: _entry(kind, set()) for name, kind in WEIGHTS.items()},
        }
        listed = {**kinds, "options of every pruner with a budget": sorted(shared)}
        show(listed, as_json, lambda: registry_table(kinds))


def _entry(kind: Any, shared: set[str]) -> dict[str, Any]:
    """Describe a class: what it does, and its options with their defaults, except the shared ones."""
    options = {}
    for f in dataclasses.fields(kind):
        if f.name not in shared:
            default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
            options[f.name] = "required" if default is dataclasses.MISSING else _plain(default)
    return {"about": kind.about, "options": options}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()["name"]
    return list(value) if isinstance(value, tuple) else value
