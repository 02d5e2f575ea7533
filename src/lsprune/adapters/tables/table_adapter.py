"""The adapter for tables of edges: two columns of ids, other columns in step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.adapters.given_features import host_rows
from lsprune.adapters.tables.columns import Table, library_of, numbers, numbers_or_dates
from lsprune.adapters.tables.node_ids import NumberedNodes, number_nodes
from lsprune.errors import FormatError, GraphError
from lsprune.files.columns import choose_ends, refuse_same_ends, stack
from lsprune.graph import Array, Graph

ID_NAMES = ("id", "node_id", "node")  # of the column of ids in a table of nodes


class TableAdapter(Adapter):
    """Reads a table with a row for each edge, and rebuilds it with the rows that are kept.

    Ids may be whole numbers, text, bytes, dates, categories of these, or any hashable objects; one kind for both ends.
    Order, index, types and other columns stay.
    """

    name: ClassVar[str] = "table"
    about: ClassVar[str] = "a pandas or Polars frame, a PyArrow table or dataset, a DuckDB relation"

    def __init__(
        self,
        source: Hashable = None,
        target: Hashable = None,
        edge_attr: Sequence[Hashable] = (),
        columns: Sequence[str] = (),
        features: Any = None,
    ) -> None:
        self.source, self.target, self.edge_attr, self.columns = source, target, tuple(edge_attr), tuple(columns)
        self.features = features
        self._table: Table | None = None  # of the object that is being pruned: lazy ones are computed once

    @classmethod
    def accepts(cls, data: Any) -> bool:
        return bool(library_of(data))

    def configured(
        self,
        *,
        source: Any = None,
        target: Any = None,
        edge_attr: Any = None,
        columns: Sequence[str] = (),
        features: Any = None,
    ) -> TableAdapter:
        """Return the adapter for columns of these names."""
        if isinstance(edge_attr, str):
            edge_attr = (edge_attr,)
        return TableAdapter(source, target, edge_attr or (), columns, features)

    def graphs(self, data: Any) -> Mapping[Key, Graph]:
        """Return the graph: rows are edges, in their order."""
        table = self._table = Table.of(data)
        ends = self._ends(table)
        columns = {name: table.column(name) for name in ends}
        nodes, x, of_nodes = self._nodes(columns)
        return {None: numbered_graph(table, nodes, x, self.edge_attr, self.columns, of_nodes)}

    def rebuild(self, data: Any, kept: Mapping[Key, Kept]) -> Any:
        """Return a table of the same kind with the rows that are kept."""
        if None not in kept:
            return data
        kept[None].refuse_weight("a table")
        kept[None].refuse_e_id("a table")
        table = self._table or Table.of(data)
        return table.filtered(np.asarray(kept[None].mask))

    def _ends(self, table: Table) -> tuple[Any, Any]:
        names = table.names
        if self.source is not None and self.target is not None:
            refuse_same_ends(self.source, self.target, GraphError)
            return self.source, self.target
        if self.source is not None or self.target is not None:
            raise GraphError("source and target must be given together: the names of the two columns of ids")
        try:
            return choose_ends([name for name in names if isinstance(name, str)], None, None, Path("the table"))
        except FormatError as error:
            raise GraphError(f"{error}; name them with source= and target=") from None

    def _nodes(self, columns: dict[Any, Any]) -> tuple[NumberedNodes, Any, dict[str, Array]]:
        """Return the nodes, their attributes and the columns of nodes that are asked for by name.

        Attributes are rows of an array by number, or rows of a table by its ids.
        """
        if self.features is None:
            return number_nodes(columns), None, {}
        if not library_of(self.features):
            nodes = number_nodes(columns)
            rows = host_rows(self.features)
            if nodes.ids is not None:
                kinds = "a table with a column of ids (id, node_id or node)"
                raise GraphError(f"features must be {kinds} where ids are not numbers 0..N-1")
            if rows.shape[0] < nodes.count:
                raise GraphError(f"features must have {nodes.count} rows or more, one for each id, got {rows.shape[0]}")
            return replace(nodes, count=int(rows.shape[0])), rows, {}
        return self._nodes_of_table(columns, Table.of(self.features))

    def _nodes_of_table(self, columns: dict[Any, Any], table: Table) -> tuple[NumberedNodes, Any, dict[str, Array]]:
        own = next((name for name in ID_NAMES if name in table.names), None)
        if own is None:
            raise GraphError(f"features must have a column of ids ({', '.join(ID_NAMES)}), got {table.names[:12]}")
        nodes, row_of = join_rows(columns, table.column(own), f"{own} of features")
        asked = [name for name in self.columns if name in table.names and name != own]
        named = {name: numbers_or_dates(table.column(name), name)[row_of] for name in asked}
        rows = stack([numbers(table.column(name), name) for name in table.names if name not in (own, *asked)])
        if rows is None and not named:
            raise GraphError("features must have columns besides the ids, got none")
        return nodes, None if rows is None else rows[row_of], named


def join_rows(columns: dict[Any, Any], ids: Any, name: str) -> tuple[NumberedNodes, Array]:
    """Number the ids of edges and of a table of nodes; return the nodes, and the row of each in the table.

    Raise GraphError if an id of the edges is not in the table, or one is there several times.
    """
    nodes = number_nodes({**columns, name: ids}, compact=True)
    place = nodes.numbers[-1]
    row_of = np.full(nodes.count, -1, np.int64)
    row_of[place] = np.arange(place.shape[0])
    used = np.zeros(nodes.count, bool)
    for numbered in nodes.numbers[:-1]:
        used[numbered] = True
    if place.shape[0] != np.unique(place).shape[0]:
        counts = np.bincount(place, minlength=nodes.count)
        raise GraphError(
            f"features must have one row for each id, got several for {nodes.value(int(counts.argmax()))!r}"
        )
    if (missing := np.flatnonzero(used & (row_of < 0))).size:
        raise GraphError(f"features must have a row for each id, got none for {nodes.value(int(missing[0]))!r}")
    return nodes, row_of


def numbered_graph(
    table: Table,
    nodes: NumberedNodes,
    x: Any,
    edge_attr: Sequence[Hashable],
    columns: Sequence[str],
    of_nodes: Mapping[str, Array],
) -> Graph:
    """Return the graph of a table of edges whose nodes are numbered.

    Args:
        x: node attributes by number. edge_attr: columns that are attributes of edges.
        columns: names that a pruner asks for, of columns of the table or of `of_nodes`: those of nodes, by number.
    """
    source, target = nodes.numbers[0], nodes.numbers[1]
    attr = stack([numbers(table.column(name), name) for name in edge_attr])
    graph = Graph.from_edges((source, target), num_nodes=nodes.count, x=x, edge_attr=attr)
    asked = [name for name in columns if name in table.names or name not in of_nodes]
    named = {name: numbers_or_dates(table.column(name), name) for name in asked}
    ids = None if nodes.ids is None else (nodes.ids, nodes.ids)
    pairs = {name: (rows, rows) for name, rows in of_nodes.items()}
    return replace(graph, ids=ids, edge_columns=named, node_columns=pairs)
