"""Min-hash of the neighbour's identity: two owners that share neighbours keep the same ones. Needs no attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.hashing.base import Family, Keys, View, of_nodes, uniform
from lsprune.kernels.mix import IDENTITY, draw


@dataclass(frozen=True, kw_only=True)
class Identity(Family):
    """The key is a random number that belongs to the neighbour, the same in every neighbourhood.

    >>> Identity()
    Identity()
    """

    name: ClassVar[str] = "identity"
    about: ClassVar[str] = "min-hash of the neighbour's id; needs no attributes"
    needs_attributes: ClassVar[bool] = False
    hashed: ClassVar[bool] = True

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        local = np.arange(view.neighbours)
        if view.neighbour_base.size:
            local = local - view.neighbour_base
        table = np.zeros((view.neighbours, 8 if count <= 8 else 16), np.int32)
        for z in range(count):
            table[:, z] = uniform(view, draw(view.seed, IDENTITY, first + z + 1, local))
        return of_nodes(view, table)
