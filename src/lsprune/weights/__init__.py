"""Edge weights, one a file. To add one: write the file, add its class to WEIGHTS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lsprune.checks import shown
from lsprune.errors import OptionError
from lsprune.registry import Registry
from lsprune.weights.auto import AutoWeight
from lsprune.weights.base import PerEdge, Weight
from lsprune.weights.column import Column
from lsprune.weights.degree import Degree
from lsprune.weights.jaccard import Jaccard
from lsprune.weights.similarity import Similarity

WEIGHTS: Registry[Weight] = Registry("weights", Degree, Jaccard, Similarity, Column, AutoWeight)
_COLUMN = re.compile(r"(edge|neighbour)(?::([0-9]{1,9}))?")


def weight(spec: Any) -> Weight | None:
    """Build a weight from itself, a name, a short form such as "edge:2", or a table that `Weight.to_dict` gave.

    >>> weight("degree"), weight("edge:2"), weight({"name": "degree", "power": 0.4})
    (Degree(power=1.0), Column(power=1.0, part='edge', column=2), Degree(power=0.4))
    """
    if spec is None or isinstance(spec, Weight):
        return spec
    if isinstance(spec, Mapping):
        return _from_table(spec)
    short = _COLUMN.fullmatch(spec) if isinstance(spec, str) else None
    if short is not None and (short[1] == "edge" or short[2] is not None):
        return Column(part=short[1], column=None if short[2] is None else int(short[2]))  # type: ignore[arg-type]
    if not isinstance(spec, str):
        raise OptionError(
            f"weights must be an edge weight such as Degree(power=0.4), a name or None, got {shown(spec)}"
        )
    try:
        return WEIGHTS.find(spec)()
    except OptionError as error:
        raise OptionError(
            str(error).replace(", got", ', "edge", "edge:COLUMN" or "neighbour:COLUMN", got', 1)
        ) from None


def _from_table(options: Mapping[str, Any]) -> Weight:
    kind = WEIGHTS.find(options.get("name", ""))
    known = {f.name for f in fields(kind)}
    for name in options:
        if name not in known | {"name"}:
            raise OptionError(f"{name} is not an option of weights {kind.name}; it has {', '.join(sorted(known))}")
    return kind(**{name: value for name, value in options.items() if name != "name"})


__all__ = ["WEIGHTS", "AutoWeight", "Column", "Degree", "Jaccard", "PerEdge", "Similarity", "Weight", "weight"]
