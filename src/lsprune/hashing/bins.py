"""Multi-resolution projection: min-hash of a coarse bin of a random projection, finer bins break ties."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import set_number, set_whole
from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import spread_of, sums_of
from lsprune.needs import Needs
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import OFFSET, WEIGHT, WORD, draw, high_bits

_KEY_BITS = 60  # shared equally by the levels
MAX_BIN_QUANTA = 1 << 62  # length of a bin in the units of sums, so that sum + offset fits 63 bits


@dataclass(frozen=True, kw_only=True)
class Bins(Family):
    """Multi-resolution projection: the key is the min-hash of a coarse bin, then of finer and finer ones within it.

    Unlike LSP-P, neither end of the projection is preferred: the order of the bins is random, and the same in every
    neighbourhood.

    Args:
        length: length of the coarsest bins, in standard deviations of the projection.
        levels: number of levels; each has bins half as long as the one before.

    >>> Bins(length=2.0, levels=2)
    Bins(length=2.0, levels=2)
    """

    name: ClassVar[str] = "bins"
    about: ClassVar[str] = "multi-resolution projection: min-hash of a coarse bin, finer bins as tie-break"

    length: float = 1.0
    levels: int = 3

    def __post_init__(self) -> None:
        about = "; it counts standard deviations"
        set_number(self, "length", lambda length: 0 < length < math.inf, "a number > 0", about=about)
        set_whole(self, "levels", 1, 6, "a whole number in [1, 6]")

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        steps = np.arange(first + 1, first + count + 1)
        weights = {
            role: normal(
                draw(view.seed, WEIGHT, steps[:, None], PARTS.index(role), np.arange(view.scales[role].dim)[None, :])
            )
            for role in view.parts
        }
        deviation = spread_of(view)
        if not self.length < MAX_BIN_QUANTA / deviation:
            raise OptionError(
                f"length must be less than {MAX_BIN_QUANTA / deviation:.3g} for these attributes, got {self.length}"
            )
        coarse = max(round(self.length * deviation), 1 << (self.levels - 1))
        offsets = np.array([int(draw(view.seed, OFFSET, int(step))) % coarse for step in steps], np.int64)
        offsets = view.constant(offsets)
        bits = _KEY_BITS // self.levels

        def finish(sums: Array) -> Array:
            key = sums * 0
            for level in range(self.levels):
                bins = (sums + offsets) // (coarse >> level)
                key = (key << bits) | high_bits(draw(view.seed, WORD, level, steps[None, :], bins), bits)
            return key

        return sums_of(view, weights, finish)
