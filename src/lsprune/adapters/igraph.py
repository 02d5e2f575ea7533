"""Adapter for igraph graphs, directed and undirected.

Numeric vertex attributes `x` and edge attributes `edge_attr` are features, the edge attribute `weight` is the edge
weight; others are read where a pruner asks for them by name. An undirected edge becomes two directed ones and is one
edge again in the result: masks for the user have one entry for each edge of the graph, in its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key, libraries
from lsprune.adapters.both_directions import both_directions, mean_factors
from lsprune.adapters.numeric_attribute import attribute_column, numeric_attribute
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class IgraphAdapter(Adapter):
    """Reads and rebuilds an igraph graph; attributes of vertices, edges and the graph stay."""

    name: ClassVar[str] = "igraph"
    about: ClassVar[str] = "an igraph graph"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return "igraph" in libraries(data) and hasattr(data, "get_edgelist")

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph: edges in their order, then, if it is undirected, the reverse of all but self-loops."""
        ends = _ends(data)
        edge_attr, weight = _numbers(data.es, "edge_attr"), _numbers(data.es, "weight")
        edge_columns, node_columns = (_columns(items, self.columns) for items in (data.es, data.vs))
        if not data.is_directed():
            doubled, edge_attr, weight, *columns = both_directions(ends, edge_attr, weight, *edge_columns.values())
            ends, edge_columns = doubled, dict(zip(edge_columns, columns, strict=True))
        graph = Graph.from_edges(
            ends, num_nodes=data.vcount(), x=_numbers(data.vs, "x"), edge_attr=edge_attr,
            edge_weight=None if weight is None or weight.ndim != 1 else weight, undirected=not data.is_directed(),
        )  # fmt: skip
        names = (*data.es.attributes(), *data.vs.attributes())
        return {None: graph.with_columns(edge_columns, node_columns, names)}

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """Return a new graph with all vertices and the edges that are kept."""
        if None not in kept:
            return data
        mask = np.asarray(kept[None].mask)[: data.ecount()]
        places = np.flatnonzero(mask)
        smaller = data.subgraph_edges(places.tolist(), delete_vertices=False)
        factors = kept[None].weight
        if factors is not None:
            factors = factors if data.is_directed() else mean_factors(np.equal(*_ends(data)), factors)
            before = np.array(data.es["weight"] if "weight" in data.es.attributes() else np.ones(data.ecount()))
            smaller.es["weight"] = (before[places] * factors[places]).tolist()
        if kept[None].e_id:
            smaller.es["e_id"] = places.tolist()
        return smaller

    def masks(self, data: Any, masks: Mapping[Key, Array]) -> Array:
        """Return the mask with one entry for each edge, also of an undirected graph."""
        return masks[None][: data.ecount()]


def kinds() -> tuple[type[Adapter], ...]:
    """Return the adapters of this module."""
    return (IgraphAdapter,)


def _ends(data: Any) -> Array:
    return np.array(data.get_edgelist(), dtype=np.int64).reshape(-1, 2).T


def _columns(items: Any, names: Iterable[str]) -> dict[str, Array]:
    """Return the attributes of these names that vertices or edges have."""
    there = [name for name in names if name in items.attributes()]
    for name in there:
        if any(value is None for value in items[name]):
            raise GraphError(f"attribute {name!r} must be set for all items, one is missing")
    return {name: attribute_column(items[name], name) for name in there}


def _numbers(items: Any, name: str) -> Array | None:
    """Return an attribute of all vertices or edges as numbers; None if there is none, or it is something else."""
    return numeric_attribute(items[name], name) if name in items.attributes() else None
