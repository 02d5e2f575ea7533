"""Adapter for NetworkX graphs: Graph, DiGraph, MultiGraph and MultiDiGraph.

Nodes are numbered in the order of `G.nodes`. A numeric node attribute `x` and edge attribute `edge_attr` become
features when every node (edge) has one, and the edge attribute `weight` becomes the edge weight. Other attributes are
read where a pruner asks for them by name. An undirected edge
becomes two directed ones, so that each end is an owner of it, and is one edge again in the result: masks for the user
have one entry for each edge of `G.edges`, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key, libraries
from lsprune.adapters.both_directions import both_directions, mean_factors
from lsprune.adapters.numeric_attribute import attribute_column, numeric_attribute
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph


class NetworkxAdapter(Adapter):
    """Reads and rebuilds a NetworkX graph; node, edge and graph attributes and multigraph keys all stay."""

    name: ClassVar[str] = "networkx"
    about: ClassVar[str] = "a NetworkX graph"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return "networkx" in libraries(data)

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph: edges in `G.edges` order, then, if it is undirected, the reverse of all but self-loops."""
        number = {node: i for i, node in enumerate(data)}
        ends = np.array([(number[u], number[v]) for u, v in data.edges()], dtype=np.int64).reshape(-1, 2).T  # [2, E]
        x = _feature((attributes for _, attributes in data.nodes(data=True)), "x", len(number))
        edge_attr = _feature((attributes for *_, attributes in data.edges(data=True)), "edge_attr", ends.shape[1])
        weight = _feature((attributes for *_, attributes in data.edges(data=True)), "weight", ends.shape[1])
        weight = None if weight is None or weight.ndim != 1 else weight
        edges, nodes = ([item[-1] for item in items(data=True)] for items in (data.edges, data.nodes))
        edge_columns, node_columns = (_columns(items, self.columns) for items in (edges, nodes))
        if not data.is_directed():
            doubled, edge_attr, weight, *columns = both_directions(ends, edge_attr, weight, *edge_columns.values())
            ends, edge_columns = doubled, dict(zip(edge_columns, columns, strict=True))
        graph = Graph.from_edges(
            ends, num_nodes=len(number), x=x, edge_attr=edge_attr, edge_weight=weight,
            undirected=not data.is_directed(),
        )  # fmt: skip
        known = dict.fromkeys(str(name) for item in (*edges[:1], *nodes[:1]) for name in item)
        return {None: graph.with_columns(edge_columns, node_columns, tuple(known))}

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """Return a new graph of the same class with all nodes and the kept edges.

        An undirected edge has one weight but two owners: rescaling takes the mean of both factors, so that the sum of
        all weights is that of the directed graph.
        """
        if None not in kept:
            return data
        mask = kept[None].mask[: data.number_of_edges()]
        factor = _factor(data, kept[None].weight)
        smaller = type(data)()
        smaller.graph.update(data.graph)
        smaller.add_nodes_from(data.nodes(data=True))
        edges = data.edges(keys=True, data=True) if data.is_multigraph() else data.edges(data=True)
        smaller.add_edges_from(
            (*ends, _changed(attributes, i, factor, kept[None].e_id))
            for i, (keep, (*ends, attributes)) in enumerate(zip(mask, edges, strict=True))
            if keep
        )
        return smaller

    def masks(self, data: Any, masks: Mapping[Key, Array]) -> Array:
        """Return the mask in `G.edges` order: one entry for each edge, also of an undirected graph."""
        return masks[None][: data.number_of_edges()]


def kinds() -> tuple[type[Adapter], ...]:
    """Return the adapters of this module."""
    return (NetworkxAdapter,)


def _feature(attributes: Iterable[Mapping[Any, Any]], name: str, count: int) -> Array | None:
    values = [item[name] for item in attributes if name in item]
    return numeric_attribute(values, name) if len(values) == count else None


def _columns(items: Sequence[Mapping[Any, Any]], names: Iterable[str]) -> dict[str, Array]:
    """Return the attributes of these names that all items have; raise GraphError if only some have one."""
    columns = {}
    for name in names:
        values = [item[name] for item in items if item.get(name) is not None]
        if values and len(values) < len(items):
            raise GraphError(f"attribute {name!r} must be set for all {len(items)} items, got {len(values)}")
        if len(values) == len(items):
            columns[name] = attribute_column(values, name)
    return columns


def _factor(data: Any, weight: Array | None) -> Array | None:
    if weight is None or data.is_directed():
        return weight
    return mean_factors(np.array([u == v for u, v in data.edges()], dtype=bool), weight)


def _changed(attributes: Mapping[Any, Any], position: int, factor: Array | None, e_id: bool) -> dict[Any, Any]:
    changed = dict(attributes)
    if factor is not None:
        changed["weight"] = changed.get("weight", 1.0) * float(factor[position])
    if e_id:
        changed["e_id"] = position
    return changed
