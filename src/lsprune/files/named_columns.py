"""Columns of edges and nodes that pruners ask for by name, such as times: each in its own type, never joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import did_you_mean
from lsprune.errors import FormatError
from lsprune.files.arrow_columns import numbers_or_dates
from lsprune.files.columns import listed
from lsprune.files.edge_files import Content
from lsprune.files.edge_options import EdgeOptions, TableOptions
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_columns import read_columns
from lsprune.files.node_table import id_column, place_rows
from lsprune.graph import Array, Graph


def with_named_columns(graph: Graph, options: EdgeOptions, content: Content, path: Path, memory: MemoryBudget) -> Graph:
    """Return the graph with the columns of `options.columns`: of the file of edges, and of the tables of nodes.

    Raise FormatError for a name that is in none of them.
    """
    if not options.columns:
        return graph
    of_edges = {name: content.column(name) for name in options.columns}
    edge_columns = {name: _plain(column, name, path) for name, column in of_edges.items() if column is not None}
    tables = options.tables if graph.bipartite else (options.tables[0],) * 2
    ends = [_of_table(table, options.columns, memory) for table in tables]
    arrays = getattr(content, "arrays", {})  # only a .npz holds more than edges
    node_columns: dict[str, Any] = {}
    for name in options.columns:
        pair = tuple(end.get(name) for end in ends)
        if any(column is not None for column in pair):
            node_columns[name] = pair if graph.bipartite else pair[1]
        elif name in arrays and name not in edge_columns and arrays[name].shape == (graph.num_nodes,):
            node_columns[name] = arrays[name]
        elif name not in edge_columns:
            there = content.column_names
            raise FormatError(
                f"{path}: no column {name!r} of the edges or nodes; it has {listed(there)}{did_you_mean(name, there)}"
            )
    return graph.with_columns(edge_columns, node_columns, tuple(content.column_names))


def _plain(column: Any, name: str, path: Path) -> Array:
    return column if isinstance(column, np.ndarray) else numbers_or_dates(column, name, path)


def _of_table(table: TableOptions | None, names: tuple[str, ...] | Any, memory: MemoryBudget) -> dict[str, Array]:
    """Return the columns of these names in a table of nodes, row i for node i."""
    columns = {} if table is None else read_columns(table.path, memory)
    there = [name for name in names if name in columns]
    if not there or table is None:
        return {}
    ids = id_column(columns, table.id, (*table.x, *there), table.path)
    values = {name: _plain(columns[name], name, table.path) for name in there}
    if ids is None:
        return values
    numbers = _plain(columns[ids], ids, table.path)
    return {name: place_rows(rows, numbers, ids, table.path).x for name, rows in values.items()}
