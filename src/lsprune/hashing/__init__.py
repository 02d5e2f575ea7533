"""Hash families, one a file. To add one: write the file, add its class to FAMILIES."""

from __future__ import annotations

from lsprune.errors import OptionError
from lsprune.hashing.auto import Auto
from lsprune.hashing.base import Family
from lsprune.hashing.bins import Bins
from lsprune.hashing.codebook import Codebook
from lsprune.hashing.identity import Identity
from lsprune.hashing.projection import Projection
from lsprune.hashing.signs import Signs
from lsprune.hashing.structure import Structure
from lsprune.hashing.threshold import Threshold

FAMILIES: dict[str, type[Family]] = {
    family.name: family for family in (Projection, Threshold, Codebook, Signs, Bins, Identity, Structure, Auto)
}


def family(name: str) -> Family:
    """The family of that name with its default options."""
    if name not in FAMILIES:
        raise OptionError(f"hash must be one of {', '.join(FAMILIES)}, got {name!r}")
    return FAMILIES[name]()


__all__ = [
    "FAMILIES",
    "Auto",
    "Bins",
    "Codebook",
    "Family",
    "Identity",
    "Projection",
    "Signs",
    "Structure",
    "Threshold",
    "family",
]
