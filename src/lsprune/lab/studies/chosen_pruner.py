"""The pruner that `lsprune.choose` picks, as a method of studies: it is chosen when it is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lsprune import adapters
from lsprune.baselines import LocalRandom
from lsprune.checks import check_budget
from lsprune.chooser import choose
from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.pruners import Pruner
from lsprune.selection.mask import Outcome

CHOOSE = "choose"


@dataclass(frozen=True, kw_only=True)
class ChosenPruner(Pruner):
    """What `choose` picks for the data that it is fitted on; all candidates are tried.

    Args:
        keep: the share of edges to keep. k: the most edges that a node keeps; candidates are tried at the share that
            this leaves.
    """

    name: ClassVar[str] = CHOOSE
    about: ClassVar[str] = "the pruner that lsprune.choose picks"
    warms_up: ClassVar[bool] = False  # a study does not choose twice to keep the compilation of kernels out of its time

    k: int | None = None
    keep: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_budget(self.k, self.keep)

    @property
    def side(self) -> str:
        """The side of the first candidate; that of the choice may be another."""
        return "in"

    @property
    def symmetric(self) -> None:
        """Candidates keep directions apart."""

    @property
    def self_loops(self) -> str:
        """Candidates keep self-loops."""
        return "free"

    @property
    def is_fitted(self) -> bool:
        """It is chosen by `fit`."""
        return False

    def fit(
        self,
        data: Any,
        *,
        categories: Mapping[str, int] | None = None,
        threads: int | None = None,
        executor: str | None = None,
    ) -> Pruner:
        """Return the pruner that is chosen for the data, fitted."""
        share = self.keep
        if share is None:
            graph = adapters.find(data).graphs(data)[None]
            share = float(LocalRandom(k=self.k).mask(graph).mean()) or 1.0
        chosen = choose(data, keep=share, seed=self.seed, threads=threads, seconds=float("inf")).pruner
        return chosen if self.keep is not None else chosen.with_budget(k=self.k)

    def mask_graph(self, graph: Graph, runtime: Runtime) -> Outcome:
        """Choose for this graph, and prune it."""
        return self.fit(graph, threads=runtime.threads).mask_graph(graph, runtime)
