"""Edge weights, one per file. To add one: write the file and add its class to WEIGHTS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.registry import Registry
from lsprune.specs import parse_spec
from lsprune.weights.auto import AutoWeight
from lsprune.weights.base import PerEdge, Weight
from lsprune.weights.column import Column
from lsprune.weights.degree import Degree
from lsprune.weights.jaccard import Jaccard
from lsprune.weights.labels import Labels
from lsprune.weights.product import Product
from lsprune.weights.similarity import Similarity

WEIGHTS: Registry[Weight] = Registry("weights", Degree, Jaccard, Similarity, Labels, Column, AutoWeight)
_COLUMN_SPEC = re.compile(r"(edge|neighbour)(?::([0-9]{1,9}))?")
_POWER_SPEC = re.compile(r"([a-z-]+):([0-9.]{1,20})")


def weight(spec: Any) -> Weight | None:
    """Build a weight from a name, a short form such as "degree:power=0.4" or "edge:2", or a table.

    The factors of a product are joined by `*`. A number after a name is the power, but a column in "edge:2" and
    "neighbour:2". A weight, or None, is returned as it is.

    >>> weight("degree"), weight("edge:2"), weight("degree:power=0.4"), weight({"name": "degree", "power": 0.4})
    (Degree(power=1.0), Column(power=1.0, part='edge', column=2), Degree(power=0.4), Degree(power=0.4))
    >>> weight("jaccard:0.5*degree:power=0.5")
    Jaccard(power=0.5) * Degree(power=0.5)
    """
    if spec is None or isinstance(spec, Weight):
        return spec
    if not isinstance(spec, str | Mapping):
        raise OptionError(
            f"weights must be an edge weight such as Degree(power=0.4), a name or None, got {shown(spec)}"
        )
    table = _table(spec) if isinstance(spec, str) else spec
    kind = Product if table.get("name") == Product.name else WEIGHTS.find(table.get("name", ""))
    known = {f.name for f in fields(kind) if f.init}
    for name in table:
        if name not in known | {"name"}:
            raise OptionError(f"{name} is not an option of weights {kind.name}; it has {', '.join(sorted(known))}")
    return kind(**{name: _option(name, value) for name, value in table.items() if name != "name"})


def _option(name: str, value: Any) -> Any:
    """Return the value of an option; the factors of a product are weights too, or stand for weights."""
    return tuple(weight(factor) for factor in value) if name == "factors" and isinstance(value, list | tuple) else value


def _table(text: str) -> dict[str, Any]:
    """Return the table of a name or short form; "edge", "edge:2" and "neighbour:0" stand for `Column`."""
    if "*" in text:
        return {"name": Product.name, "factors": [_table(factor.strip()) for factor in text.split("*")]}
    if (power := _POWER_SPEC.fullmatch(text)) and power[1] not in ("edge", "neighbour"):
        return parse_spec(f"{power[1]}:power={power[2]}")
    match = _COLUMN_SPEC.fullmatch(text)
    if match is None and text.partition(":")[0] in ("edge", "neighbour"):
        raise OptionError(f"weights must name a column by its number from 0, such as edge:2, got {shown(text)}")
    if match is None or (match[1] == "neighbour" and match[2] is None):
        return parse_spec(text)
    return {"name": Column.name, "part": match[1], "column": None if match[2] is None else int(match[2])}


__all__ = [
    "WEIGHTS", "AutoWeight", "Column", "Degree", "Jaccard", "Labels", "PerEdge", "Product", "Similarity", "Weight",
    "weight",
]  # fmt: skip
