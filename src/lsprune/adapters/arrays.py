"""Adapters for lsprune's own `Graph` and for a bare numpy edge array `[2, E]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.graph import Array, Graph
from lsprune.kernels import compress, compress_csr


class GraphAdapter(Adapter):
    """Reads and rebuilds a `Graph`: COO stays COO, CSR stays CSR, attributes in step; it has no place for `e_id`."""

    name: ClassVar[str] = "graph"
    about: ClassVar[str] = "lsprune.Graph"

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, Graph)

    def graphs(self, data: Graph) -> Mapping[Key, Graph]:
        """Return the graph itself."""
        return {None: data}

    def rebuild(self, data: Graph, kept: Mapping[Key, Kept]) -> Graph:
        """Return a `Graph` with the kept edges in their order; nodes, `x` and `ptr` are the same objects as before."""
        if None not in kept:
            return data
        kept[None].refuse_weight("a Graph")
        kept[None].refuse_e_id("a Graph")
        return cut_edges(data, kept[None].mask)


class ArrayAdapter(Adapter):
    """Reads and rebuilds a bare edge array `[2, E]`; the number of nodes is the largest id + 1."""

    name: ClassVar[str] = "array"
    about: ClassVar[str] = "a numpy array [2, E]"
    guesses_nodes: ClassVar[bool] = True

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return isinstance(data, np.ndarray)

    def graphs(self, data: Array) -> Mapping[Key, Graph]:
        """Return a graph whose ends are views of the two rows."""
        return {None: Graph.from_edges(data)}

    def rebuild(self, data: Array, kept: Mapping[Key, Kept]) -> Array:
        """Return a new array `[2, kept]` of the same dtype."""
        if None not in kept:
            return data
        kept[None].refuse_weight("an edge array")
        kept[None].refuse_e_id("an edge array")
        return compress(kept[None].mask, data)


def cut_edges(graph: Graph, mask: Array) -> Graph:
    """Return the graph with the edges of a mask in their order, and all that belongs to them."""
    columns = graph.edge_columns
    return replace(
        graph,
        source=None if graph.source is None else compress(mask, graph.source),
        target=None if graph.target is None else compress(mask, graph.target),
        indptr=None if graph.indptr is None else compress_csr(graph.indptr, mask),
        edge_attr=_rows(graph.edge_attr, mask),
        edge_weight=None if graph.edge_weight is None else compress(mask, graph.edge_weight),
        edge_columns=None if columns is None else {name: column[mask] for name, column in columns.items()},
    )


def kinds() -> tuple[type[Adapter], ...]:
    """Return the adapters of this module, in the order in which they are asked."""
    return GraphAdapter, ArrayAdapter


def _rows(values: Any, mask: Array) -> Any:
    if values is None:
        return None
    if hasattr(values, "tocsr"):  # scipy.sparse: only CSR takes a row mask, the format stays the caller's
        return values.tocsr()[mask].asformat(values.format)
    return values[mask]
