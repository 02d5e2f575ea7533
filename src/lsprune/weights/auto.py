"""Stand in for the weight that `fit` chooses: similarity, or none; see `lsprune.pruners.calibration`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.weights.base import Weight
from lsprune.weights.similarity import Similarity
from lsprune.weights.surroundings import comparable

FIT_BYTES = 1 << 28  # memory to compare the surroundings of sampled edges with and without noise


@dataclass(frozen=True, kw_only=True)
class AutoWeight(Weight):
    """A stand-in that `fit` replaces by `Similarity` or by no weight.

    Similar neighbours are preferred if less than a third of the edges is kept, and if noise on the attributes hardly
    changes which neighbours are similar. The power is that of `Similarity`.

    >>> AutoWeight()
    AutoWeight(power=1.0)
    """

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = "chosen by fit: similarity if few edges are kept and it is stable under noise, else none"
    chosen_by_fit: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        """Say that the neighbours of both ends must be known."""
        reason = "weights auto is chosen by fit on a whole graph"
        return Needs(scope="neighbourhood", reason=reason, fit_edges=True, fit_bytes=FIT_BYTES, gpu=True)

    def check(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> None:
        """Raise GraphError if there are node attributes to compare and they are not finite."""
        if comparable(graph):
            Similarity().check(graph, side, seed, runtime, scales)
