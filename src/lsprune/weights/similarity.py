"""Prefer edges whose two ends have similar surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lsprune.errors import ConstantWarning, warn
from lsprune.graph import Array, Graph
from lsprune.hashing.base import View
from lsprune.hashing.keys import in_blocks
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale, check_finite, fit_scales
from lsprune.numeric.weighted_sampling import FRACTION_BITS
from lsprune.weights.base import NodeScale, PerEdge, Weight, on_device
from lsprune.weights.carried import Carried
from lsprune.weights.comparison import Comparison, RowComparison, view_of_nodes
from lsprune.weights.surroundings import (
    COSINE_BITS,
    SIMILARITY_ROLE,
    cosines,
    dot_products,
    node_part,
    node_rows,
    surroundings,
    unit_rows,
)

DOUBLINGS = 16  # how often the weight doubles from cosine 0 to cosine 1


@dataclass(frozen=True, kw_only=True)
class Similarity(Weight):
    """The weight is 2^(16 power c), where c is the cosine of the surroundings of owner and neighbour.

    The surroundings of a node are the sum of its own attributes and those of its neighbours; see `surroundings`.

    >>> Similarity()
    Similarity(power=1.0)
    """

    name: ClassVar[str] = "similarity"
    about: ClassVar[str] = "prefer edges whose ends and their neighbours have similar attributes"
    roles: ClassVar[tuple[str, ...]] = (SIMILARITY_ROLE,)
    learns: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the attributes of both ends and of their neighbours."""
        reason = "weights similarity compares the neighbours of both ends of an edge"
        return Needs(neighbour=True, scope="neighbourhood", reason=reason, gpu=True)

    def fit(self, graph: Graph, side: str, seed: int, runtime: Runtime, sizes: Mapping[str, int]) -> dict[str, Scale]:
        """Return the scale of the node attributes that are compared."""
        part = node_part(graph, side, seed, size=sizes.get("neighbour"))
        scales = fit_scales({SIMILARITY_ROLE: part}, unit=True, runtime=runtime)
        if graph.num_edges > 1 and not any(scales[SIMILARITY_ROLE].spread):
            warn("all nodes have the same attributes: no neighbour is more similar than another", ConstantWarning)
        return scales

    def check_attributes(self, graph: Graph, side: str) -> None:
        """Raise GraphError if there are no node attributes to compare."""
        node_part(graph, side, 0)

    def check(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> None:
        """Raise GraphError if there are no node attributes to compare, or they are not finite."""
        check_finite({SIMILARITY_ROLE: node_part(graph, side, seed, scale=scales.get(SIMILARITY_ROLE))}, runtime)

    def fit_scales(self, template: Graph, side: str, seed: int, scale_of: NodeScale) -> dict[str, Scale]:
        """Return the scale of the node attributes, computed elsewhere."""
        return {SIMILARITY_ROLE: scale_of(node_part(template, side, seed))}

    def carried(self, place: int) -> Weight:
        """Return the weight to use where edges carry what `comparisons` computed."""
        return Carried(power=self.power, place=place)

    def comparisons(self, scales: Mapping[str, Scale], learned: Array | None, seed: int) -> tuple[Comparison, ...]:
        """Say that the surroundings of both ends are compared, which take one round of sums."""
        return (Surroundings(rounds=1, scale=scales[SIMILARITY_ROLE], seed=seed),)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return 16 times the cosine of the surroundings of owner and neighbour, for every slot."""
        part = node_part(graph, side, view.seed, scale=scales[SIMILARITY_ROLE])
        if view.device is not None:
            cosine = on_device().cosines(view, part, scales[SIMILARITY_ROLE])
            return PerEdge(of_slot=(cosine << (FRACTION_BITS - COSINE_BITS)) * DOUBLINGS)
        rows = node_rows(view, part, scales[SIMILARITY_ROLE])
        similarity = cosines(surroundings(rows, view.owned, view.runtime), view.owned, view.runtime)

        def block(lo: int, hi: int) -> Array:
            return (similarity[lo:hi] << (FRACTION_BITS - COSINE_BITS)) * DOUBLINGS

        return PerEdge(of_slot=in_blocks(view, similarity.shape[0], block))


@dataclass(frozen=True, eq=False, kw_only=True)
class Surroundings(RowComparison):
    """The cosine of the surroundings of both ends.

    Args:
        scale: how attributes become integers. seed: that of the pruner.
    """

    scale: Scale
    seed: int

    @property
    def message_type(self) -> Any:
        """Quantised attributes have 8 bits."""
        return np.int8

    @property
    def row_type(self) -> Any:
        """Unit rows have 16 bits."""
        return np.int16

    def check(self, graph: Graph) -> None:
        """Raise GraphError if there are no node attributes to compare."""
        node_part(graph, "in", self.seed, scale=self.scale)

    def start(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the quantised attributes."""
        part = node_part(graph, "in", self.seed, scale=self.scale)
        return node_rows(view_of_nodes(graph.num_nodes, self.seed, runtime), part, self.scale).astype(np.int64)

    def message(self, known: Array) -> Array:
        """Send the quantised attributes."""
        return known.astype(np.int8)

    def update(self, known: Array, sums: Array, neighbours: Array, runtime: Runtime) -> Array:
        """Return the surroundings as unit rows."""
        out = np.zeros(sums.shape, np.int16)
        unit_rows(sums, runtime, out)
        return out.astype(np.int64)

    def finish(self, known: Array, runtime: Runtime) -> Array:
        """Return the unit rows."""
        return known.astype(np.int16)

    def logs(self, first: Array, second: Array, runtime: Runtime) -> Array:
        """Return 16 times the cosine."""
        return (dot_products(first, second, runtime) << (FRACTION_BITS - COSINE_BITS)) * DOUBLINGS
