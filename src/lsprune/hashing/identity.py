"""Min-hash of the neighbour's id: owners that share neighbours keep the same ones. Needs no attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import in_blocks, of_nodes, uniform
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import IDENTITY, draw


@dataclass(frozen=True, kw_only=True)
class Identity(Family):
    """The key is a hash of the neighbour's id, the same in every neighbourhood.

    >>> Identity()
    Identity()
    """

    name: ClassVar[str] = "identity"
    about: ClassVar[str] = "min-hash of the neighbour's id; needs no attributes"
    needs_attributes: ClassVar[bool] = False
    has_codes: ClassVar[bool] = True
    unbiased_problem: ClassVar[str] = ""

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def rows(lo: int, hi: int) -> Array:
            return uniform(view, draw(view.seed, IDENTITY, steps, view.neighbour_ids(lo, hi)[:, None]))

        return of_nodes(view, in_blocks(view, view.neighbours, rows))
