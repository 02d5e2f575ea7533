"""Min-hash of the neighbour's id: owners that share neighbours keep the same ones. Needs no attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.keys import in_blocks, of_nodes, uniform
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

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def rows(lo: int, hi: int) -> Array:
            local = np.arange(lo, hi) - (view.neighbour_base[lo:hi] if view.neighbour_base.size else 0)
            return uniform(view, draw(view.seed, IDENTITY, steps, local[:, None]))

        return of_nodes(view, in_blocks(view, view.neighbours, rows))
