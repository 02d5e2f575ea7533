"""Prefer neighbours of low degree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from lsprune.graph import Graph
from lsprune.hashing.base import View
from lsprune.hashing.keys import in_blocks
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import log2
from lsprune.weights.base import PerEdge, Weight, on_device


@dataclass(frozen=True, kw_only=True)
class Degree(Weight):
    """The weight is 1 / degree^power, where the degree counts the edges that have the node as their neighbour.

    With side="in" this is the out-degree of the neighbour.

    >>> Degree(power=0.4)
    Degree(power=0.4)
    """

    name: ClassVar[str] = "degree"
    baseline: ClassVar[str] = "LowDegree(keep=0.5)"
    about: ClassVar[str] = "prefer neighbours of low degree: 1 / degree^power"
    prefers: ClassVar[Literal["large", "small"]] = "small"

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the degree of the neighbour."""
        return Needs(degree=True, key_table=True, gpu=True)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return log2 of each neighbour's degree."""
        if view.device is not None:
            return PerEdge(of_neighbour=on_device().degree_logs(view))
        degree = view.owned.count_neighbours(view.runtime.zeros(view.neighbours, np.int64))
        return PerEdge(
            of_neighbour=in_blocks(
                view, view.neighbours, lambda lo, hi: log2(np.maximum(degree[lo:hi], 1), view.runtime)
            )
        )
