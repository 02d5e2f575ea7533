"""A weight whose logarithms were computed beforehand and come with the edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lsprune.graph import Graph
from lsprune.hashing.base import View
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.weights.base import PerEdge, Weight


@dataclass(frozen=True, kw_only=True)
class Carried(Weight):
    """The weight is that of another one, which compares neighbourhoods; see `Weight.carried`.

    Args:
        place: which of the numbers that come with an edge is the logarithm.

    >>> Carried(power=0.5)
    Carried(power=0.5, place=0)
    """

    name: ClassVar[str] = "carried"
    about: ClassVar[str] = "a weight that was computed beforehand and comes with the edges"

    place: int = 0

    @property
    def needs(self) -> Needs:
        """Say that edges carry logarithms."""
        return Needs(carried=True)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return the logarithms that come with the slots."""
        assert view.owned.carried is not None
        return PerEdge(of_slot=view.owned.carried[:, self.place])
