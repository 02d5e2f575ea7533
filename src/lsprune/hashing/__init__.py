"""Hash families, one per file. To add one: write the file and add its class to FAMILIES."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lsprune.errors import OptionError
from lsprune.hashing.auto import Auto
from lsprune.hashing.base import Family
from lsprune.hashing.bins import Bins
from lsprune.hashing.both import Both
from lsprune.hashing.codebook import Codebook
from lsprune.hashing.constant import Constant
from lsprune.hashing.identity import Identity
from lsprune.hashing.paper import PaperProjection, PaperThreshold
from lsprune.hashing.projection import Projection
from lsprune.hashing.signs import Signs
from lsprune.hashing.structure import Structure
from lsprune.hashing.threshold import Threshold
from lsprune.registry import Registry
from lsprune.specs import parse_spec

FAMILIES: Registry[Family] = Registry(
    "hash",
    Projection,
    Threshold,
    Codebook,
    Signs,
    Bins,
    Identity,
    Structure,
    Constant,
    Both,
    Auto,
    PaperProjection,
    PaperThreshold,
)


def family(spec: str | Mapping[str, Any]) -> Family:
    """Build a hash family from its name, a short form with options, or a table that `Family.to_dict` returned.

    >>> family("signs"), family("signs:bits=4"), family({"name": "both", "edge": {"name": "signs", "bits": 4}}).edge
    (Signs(bits=8), Signs(bits=4), Signs(bits=4))
    """
    table = parse_spec(spec) if isinstance(spec, str) else spec
    kind = FAMILIES.find(table.get("name", ""))
    known = {f.name for f in fields(kind)}
    for name in table:
        if name not in known | {"name"}:
            listed = ", ".join(sorted(known)) or "none"
            raise OptionError(f"{name} is not an option of hash {kind.name}; it has {listed}")
    options = {name: family(value) if isinstance(value, Mapping) else value for name, value in table.items()}
    options.pop("name")
    return kind(**options)


__all__ = [
    "FAMILIES",
    "Auto",
    "Bins",
    "Both",
    "Codebook",
    "Constant",
    "Family",
    "Identity",
    "PaperProjection",
    "PaperThreshold",
    "Projection",
    "Signs",
    "Structure",
    "Threshold",
    "family",
]
