"""What a user writes: a hash family, an edge weight, a baseline and an adapter, each registered with one call.

Nothing but public names is imported: `lsprune` and `lsprune.plugins`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lsprune.plugins import (
    USER,
    Adapter,
    Family,
    Graph,
    KeySource,
    LocalPruner,
    Needs,
    PerEdge,
    Weight,
    draw,
    in_blocks,
    of_nodes,
    register,
    slot_ids,
    uniform,
)


@register
@dataclass(frozen=True, kw_only=True)
class Rounded(Family):
    """Min-hash of the neighbour's first attribute, rounded."""

    name: ClassVar[str] = "rounded"
    about: ClassVar[str] = "min-hash of the neighbour's first attribute, rounded"
    has_codes: ClassVar[bool] = True

    digits: int = 1

    def uses(self, parts):
        return frozenset({"neighbour"})

    def keys(self, view, first, count):
        part, steps = view.parts["neighbour"], np.arange(first + 1, first + count + 1)[None, :]

        def rows(lo, hi):
            values = part.rows.take(part.rows_of(np.arange(lo, hi)))[:, 0].astype(np.float64)
            codes = np.rint(values * 10**self.digits).astype(np.int64)
            return uniform(view, draw(view.seed, USER, steps, codes[:, None]))

        return of_nodes(view, in_blocks(view, view.neighbours, rows))


@register
@dataclass(frozen=True, kw_only=True)
class Recent(Weight):
    """Prefer edges with a large first attribute."""

    name: ClassVar[str] = "recent"
    about: ClassVar[str] = "prefer edges with a large first attribute"

    @property
    def needs(self):
        return Needs(edge=True)

    def values(self, graph, view, side):
        attributes = np.asarray(graph.edge_attr)
        return PerEdge(of_edge=attributes.reshape(attributes.shape[0], -1)[:, 0])


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class NearestId(LocalPruner):
    """Every owner keeps the neighbours whose ids are nearest to its own."""

    name: ClassVar[str] = "nearest-id"
    about: ClassVar[str] = "the k neighbours of nearest id per owner"

    wrap: int = 0

    @property
    def needs(self):
        return Needs(owner_id=True)

    def key_source(self, graph, owned, runtime):
        def keys(lo, hi):
            owner, neighbour = slot_ids(graph, owned, self.side, lo, hi)
            distance = np.abs(owner - neighbour)
            return np.minimum(distance, self.wrap - distance) if self.wrap else distance

        return KeySource.of_edges(keys)


@dataclass
class EdgeTable:
    """A kind of graph that lsprune does not know."""

    edges: list[tuple[int, int]]
    x: Any = None


@register
class EdgeTableAdapter(Adapter):
    """Prunes an `EdgeTable`."""

    name = "edge-table"
    about = "an EdgeTable"

    @classmethod
    def accepts(cls, data):
        return isinstance(data, EdgeTable)

    def graphs(self, data):
        return {None: Graph.from_edges(np.array(data.edges).T, x=data.x)}

    def rebuild(self, data, kept):
        edges = [edge for edge, keep in zip(data.edges, kept[None].mask, strict=True) if keep]
        return EdgeTable(edges, data.x)
