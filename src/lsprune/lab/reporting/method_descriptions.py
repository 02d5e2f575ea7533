"""Describe a method in one line, from what the registries say about its pruner, hash family and edge weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprune.hashing import FAMILIES
from lsprune.lab.studies.chosen_pruner import CHOOSE, ChosenPruner
from lsprune.lab.studies.methods import SHARED, Method
from lsprune.pruners import PRUNERS
from lsprune.registry import Registry
from lsprune.weights import WEIGHTS

DEFAULT_HASH = "projection"  # of an LSP whose options name none
REFERENCES = {
    False: "The whole graph: no edge is removed.",
    True: "The plain variant of the model, on the whole graph.",
}


def describe(method: Method) -> str:
    """Return one line about a method.

    >>> describe(Method("mine", {"pruner": "local-random", "side": "out"}))
    'k random neighbours per owner. Sources own their edges.'
    """
    if method.pruner is None:
        return REFERENCES[method.basic]
    again = " Drawn again in every epoch, tested on the whole graph." if method.every_epoch else ""
    line = f"{_pruner(method.pruner)}{again}"
    return line[:1].upper() + line[1:] if line[1:2].isalpha() and method.pruner["pruner"] in PRUNERS else line


def _pruner(options: Mapping[str, Any]) -> str:
    """Return what a pruner does, with its hash and its weights; its name, if it is not known here."""
    name, inner = options.get("pruner"), options.get("inner")
    within = f": {_pruner(inner)}" if isinstance(inner, Mapping) else ""
    if name == SHARED:
        return f"One budget for all relations of the graph{within}"
    if within:
        return f"{_about(PRUNERS, name)}{within}"
    if name == "lsp":
        parts = ["Locality-sensitive pruning"]
    else:
        parts = [ChosenPruner.about if name == CHOOSE else _about(PRUNERS, name)]
    if name == "lsp" or options.get("hash"):
        parts.append(f"Hash: {_with_options(FAMILIES, options.get('hash') or DEFAULT_HASH)}")
    if options.get("weights"):
        parts.append(f"Weights: {_with_options(WEIGHTS, options['weights'])}")
    if options.get("attributes") == ["edge"]:
        parts.append("Only the attributes of edges are hashed")
    if options.get("side") == "out":
        parts.append("Sources own their edges")
    return ". ".join(parts) + "."


def _with_options(registry: Registry[Any], spec: object) -> str:
    """Return the line about a hash family or an edge weight, with the options that differ from the defaults."""
    if not isinstance(spec, Mapping):
        return _about(registry, spec)
    options = ", ".join(f"{name} = {value}" for name, value in spec.items() if name != "name")
    return _about(registry, spec.get("name")) + (f" ({options})" if options else "")


def _about(registry: Registry[Any], name: object) -> str:
    known = registry.get(name) if isinstance(name, str) else None
    return str(name) if known is None else str(known.about)
