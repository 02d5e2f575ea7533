"""The same key for every edge: edge weights alone decide, then the tie rule. Needs no attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import equal_keys
from lsprune.needs import Needs
from lsprune.numeric.weighted_sampling import EXACT_LOG_UNIT


@dataclass(frozen=True, kw_only=True)
class Constant(Family):
    """Every key is 0. With weights, owners keep their edges of largest weight; without, the tie rule decides.

    >>> Constant()
    Constant()
    """

    name: ClassVar[str] = "constant"
    about: ClassVar[str] = "no hash: the edges of largest weight are kept; needs no attributes"
    needs_attributes: ClassVar[bool] = False
    unbiased_problem: ClassVar[str] = (
        "hash constant draws nothing: the same edges are kept with every seed, and no factor makes up for the others"
    )

    @property
    def needs(self) -> Needs:
        """Say that keys are the same for every neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def log_unit(self, view: View) -> int:
        """Return the unit in which logarithms of weights are added as they are."""
        return EXACT_LOG_UNIT

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return equal keys."""
        return equal_keys(view, count)
