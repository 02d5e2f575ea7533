"""Prefer edges whose two ends have many neighbours in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.common_neighbours import OVERLAP_EDGE_BYTES, overlaps
from lsprune.errors import GraphError
from lsprune.graph import Graph
from lsprune.hashing.base import View
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.weighted_sampling import log2
from lsprune.weights.base import PerEdge, Weight, on_device


@dataclass(frozen=True, kw_only=True)
class Jaccard(Weight):
    """The weight is j^power, where j is the Jaccard similarity of the neighbour sets of owner and neighbour.

    Each node is in its own set, so that j > 0.

    >>> Jaccard(power=0.5)
    Jaccard(power=0.5)
    """

    name: ClassVar[str] = "jaccard"
    about: ClassVar[str] = "prefer edges whose ends share neighbours: Jaccard similarity^power"

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the neighbours of both ends."""
        reason = "weights jaccard compares the neighbours of both ends of an edge"
        return Needs(scope="neighbourhood", reason=reason, edge_bytes=OVERLAP_EDGE_BYTES, gpu=True)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return log2 of the similarity of owner and neighbour, for every slot."""
        if graph.bipartite:
            raise GraphError('weights="jaccard" needs one kind of nodes: two kinds have no common neighbours')
        if view.device is not None:
            return PerEdge(of_slot=on_device().jaccard_logs(view, graph.num_nodes))
        common, union = overlaps(view.owned, graph.num_nodes, view.runtime, closed=True)
        sizes, index = np.unique(np.concatenate([common, union]), return_inverse=True)
        logs = log2(sizes, view.runtime)[index]
        return PerEdge(of_slot=np.asarray(logs[: common.shape[0]] - logs[common.shape[0] :]))
