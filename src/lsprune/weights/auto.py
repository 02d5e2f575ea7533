"""Stand in for the weights that `fit` chooses, with labels or without; see `lsprune.pruners.calibration`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lsprune.checks import check_flag
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
    """A stand-in that `fit` replaces by the recommended weights, or by none.

    - With `labels`, if training nodes have some (`y` and `train_mask`) and those of neighbours are similar
      (assortativity 0.05 or more): `Labels(power=2) * Jaccard() * Degree(power=0.5)`.
    - Otherwise: similar neighbours are preferred if less than a third of the edges is kept, and if noise on the
      attributes hardly changes which neighbours are similar: `Jaccard() * Similarity(power=0.5)` with `hash="auto"`,
      else `Similarity()`.

    With `hash="auto"` these weights alone decide. Otherwise they are taken to the power.

    Args:
        labels: learn from labels; `LSP.auto` does.

    >>> AutoWeight()
    AutoWeight(power=1.0, labels=False)
    """

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = "chosen by fit: a product with labels, or similar neighbours if few edges are kept, or none"
    chosen_by_fit: ClassVar[bool] = True

    labels: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("labels", self.labels)
        object.__setattr__(self, "labels", bool(self.labels))

    @property
    def needs(self) -> Needs:
        """Say that the neighbours of both ends must be known."""
        reason = "weights auto is chosen by fit on a whole graph"
        return Needs(scope="neighbourhood", reason=reason, fit_edges=True, fit_bytes=FIT_BYTES, gpu=True)

    def check(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> None:
        """Raise GraphError if there are node attributes to compare and they are not finite."""
        if comparable(graph):
            Similarity().check(graph, side, seed, runtime, scales)
