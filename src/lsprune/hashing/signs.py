"""SimHash: the signs of several random projections form a code, and the code is min-hashed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lsprune.attributes import PARTS
from lsprune.checks import set_whole
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import sums_of, uniform
from lsprune.needs import Needs
from lsprune.numeric.normal_table import normal
from lsprune.numeric.random_numbers import SIGN, WORD, draw


@dataclass(frozen=True, kw_only=True)
class Signs(Family):
    """SimHash: the key is a hash of the signs of random projections of the attributes.

    Args:
        bits: number of projections in a code; more distinguish finer differences but are less stable under noise.

    >>> Signs(bits=6)
    Signs(bits=6)
    """

    name: ClassVar[str] = "signs"
    about: ClassVar[str] = "SimHash: min-hash of the signs of random projections"
    has_codes: ClassVar[bool] = True

    bits: int = 8

    def __post_init__(self) -> None:
        set_whole(self, "bits", 1, 62, "a whole number in [1, 62]")

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        steps = np.arange(first + 1, first + count + 1)
        weights = {
            role: normal(
                draw(
                    view.seed, SIGN, steps[:, None, None], np.arange(self.bits)[None, :, None], PARTS.index(role),
                    np.arange(view.scales[role].dim)[None, None, :],
                )
            ).reshape(count * self.bits, -1)
            for role in view.parts
        }  # fmt: skip
        places = view.constant(np.int64(1) << np.arange(self.bits))

        def finish(sums: Array) -> Array:
            codes = ((sums > 0).reshape(sums.shape[0], count, self.bits) * places).sum(2)
            return uniform(view, draw(view.seed, WORD, steps[None, :], codes))

        return sums_of(view, weights, finish)
