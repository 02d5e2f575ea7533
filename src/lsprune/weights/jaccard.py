"""Prefer edges whose two ends have many neighbours in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.common_neighbours import OVERLAP_EDGE_BYTES, overlaps
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.hashing.base import View
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import log2
from lsprune.weights.base import PerEdge, Weight, on_device
from lsprune.weights.carried import Carried
from lsprune.weights.comparison import Comparison, SetComparison

MAX_TABLE = 1 << 20  # sizes of sets whose logarithms are computed once each, whether they occur or not


@dataclass(frozen=True, kw_only=True)
class Jaccard(Weight):
    """The weight is j^power, where j is the Jaccard similarity of the neighbour sets of owner and neighbour.

    Each node is in its own set, so that j > 0.

    >>> Jaccard(power=0.5)
    Jaccard(power=0.5)
    """

    name: ClassVar[str] = "jaccard"
    baseline: ClassVar[str] = "Jaccard(keep=0.5)"
    about: ClassVar[str] = "prefer edges whose ends share neighbours: Jaccard similarity^power"

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the neighbours of both ends."""
        reason = "weights jaccard compares the neighbours of both ends of an edge"
        return Needs(scope="neighbourhood", reason=reason, edge_bytes=OVERLAP_EDGE_BYTES, gpu=True)

    def carried(self, place: int) -> Weight:
        """Return the weight to use where edges carry what `comparisons` computed."""
        return Carried(power=self.power, place=place)

    def comparisons(self, scales: Mapping[str, Scale], learned: Array | None, seed: int) -> tuple[Comparison, ...]:
        """Say that the neighbours of both ends are compared as sets."""
        return (CommonNeighbours(),)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return log2 of the similarity of owner and neighbour, for every slot."""
        CommonNeighbours().check(graph)
        if view.device is not None:
            return PerEdge(of_slot=on_device().jaccard_logs(view, graph.num_nodes))
        common, union = overlaps(view.owned, graph.num_nodes, view.runtime, closed=True)
        return PerEdge(of_slot=CommonNeighbours().logs(common, union, view.runtime))


@dataclass(frozen=True, eq=False, kw_only=True)
class CommonNeighbours(SetComparison):
    """The Jaccard similarity of the neighbours of both ends."""

    def check(self, graph: Graph) -> None:
        """Raise GraphError if there are two kinds of nodes."""
        if graph.bipartite:
            raise GraphError('weights="jaccard" needs one kind of nodes: two kinds have no common neighbours')

    def logs(self, common: Array, union: Array, runtime: Runtime) -> Array:
        """Return log2(common / union)."""
        if not common.shape[0]:
            return np.zeros(0, np.int64)
        largest = int(union.max())  # and no set is larger than a union
        if largest < MAX_TABLE:
            logs = log2(np.maximum(np.arange(largest + 1), 1), runtime)
            return np.asarray(logs[common] - logs[union])
        sizes, index = np.unique(np.concatenate([common, union]), return_inverse=True)
        logs = log2(sizes, runtime)[index]
        return np.asarray(logs[: common.shape[0]] - logs[common.shape[0] :])
