"""Prefer edges by a column of the edge attributes or of the neighbour's attributes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from lsprune.checks import MOST_WHOLE, check_choice, set_whole, shown
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, missing_column, oriented
from lsprune.hashing.base import View
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import is_tensor
from lsprune.weights.base import PerEdge, Weight


@dataclass(frozen=True, kw_only=True)
class Column(Weight):
    """The weight is column^power; values must be positive.

    Args:
        part: "edge": a column of `edge_attr`; "neighbour": a column of the neighbour's `x`.
        column: number of the column, or the name of a column of the edges (of a table or a file, an attribute of a PyG,
            NetworkX or igraph object); None: the weights of the graph
            (values of a sparse matrix, `edge_weight` of a PyG object, `weight` of a NetworkX graph), else the only
            column.

    >>> Column(column=2)
    Column(power=1.0, part='edge', column=2)
    """

    name: ClassVar[str] = "column"
    about: ClassVar[str] = "prefer edges with a large value in a column of edge_attr or of the neighbour's x"

    part: Literal["edge", "neighbour"] = "edge"
    column: int | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("part", self.part, ("edge", "neighbour"))
        set_column(self)

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the attributes of the edge or of the neighbour."""
        if isinstance(self.column, str):
            return Needs(edge_columns=(self.column,))
        return Needs(edge=self.part == "edge", neighbour=self.part != "edge", gpu=True)

    def values(self, graph: Graph, view: View, side: str) -> PerEdge:
        """Return the column, for every edge or every neighbour."""
        if isinstance(self.column, str):
            return PerEdge(of_edge=named_column(graph, self.column))
        if self.part == "edge" and self.column is None and graph.edge_weight is not None:
            return PerEdge(of_edge=graph.edge_weight)
        if self.part == "edge":
            return PerEdge(of_edge=self._column(graph.edge_attr, "edge_attr"))
        return PerEdge(of_neighbour=self._column(oriented(side, graph.x_source, graph.x_target)[1], "x"))

    def _column(self, rows: Any, name: str) -> Array:
        """Return the column of dense or sparse attributes; raise GraphError if there is none such."""
        if hasattr(rows, "tocsr"):
            rows = rows.tocsr()
        elif rows is not None:
            rows = rows if is_tensor(rows) else np.asarray(rows)
            rows = rows.reshape(rows.shape[0], -1 if math.prod(rows.shape) else 1)
        columns = 0 if rows is None else rows.shape[1]
        assert not isinstance(self.column, str)
        if self.column is None and columns != 1:
            raise GraphError(f"weights={self!r} needs {name} with one column, got {columns or 'none'}")
        if self.column is not None and self.column >= columns:
            raise GraphError(
                f"weights={self!r} needs {name} with more than {self.column} columns, got {columns or 'none'}"
            )
        column = self.column or 0
        numbers: Array = rows[:, [column]].toarray()[:, 0] if hasattr(rows, "tocsr") else rows[:, column]
        return numbers


def set_column(options: Any) -> None:
    """Check the option `column` of a frozen dataclass: the number or the name of a column, or None."""
    if isinstance(options.column, str):
        if getattr(options, "part", "edge") != "edge":
            raise OptionError(f"column must be a number for part {options.part!r}, got {shown(options.column)}")
        if not options.column:
            raise OptionError("column must not be an empty name")
        return
    set_whole(options, "column", 0, MOST_WHOLE, "a whole number in [0, 2^63), the name of a column, or None", none=True)


def named_column(graph: Graph, name: str) -> Array:
    """Return a column of the edges by its name, dates as whole numbers; raise GraphError if there is none."""
    if graph.edge_columns is None or name not in graph.edge_columns:
        raise GraphError(missing_column(graph, f"column {shown(name)}"))
    column: Array = graph.edge_columns[name]
    if column.dtype.kind == "M":
        if np.isnat(column).any():
            raise GraphError(
                f"column {shown(name)} must hold no missing dates, got one in row {np.isnat(column).argmax()}"
            )
        return column.astype(np.int64)
    return column


def edge_values(graph: Graph, column: int | str | None, pruner: str) -> Array:
    """Return the values of a column of the edges, in their own type; raise GraphError if there is none such.

    Args:
        column: number of a column of `edge_attr`, the name of a column of a table, or None: the weights of the graph,
            else the only column of `edge_attr`.
        pruner: who asks, for error messages.
    """
    if column is None and graph.edge_weight is not None:
        own: Array = graph.edge_weight
        return own
    if isinstance(column, str):
        return named_column(graph, column)
    values: Any = graph.edge_attr
    if values is None:
        raise GraphError(
            f"the graph has no edge weights (edge_weight) and no edge attributes (edge_attr), which {pruner} needs"
        )
    columns = math.prod(values.shape[1:])
    if column is None and columns != 1:
        raise GraphError(f"edge_attr must have one column for {pruner}, got {columns}; choose one with column=")
    place = column or 0
    if place >= columns:
        raise GraphError(f"edge_attr must have a column {place} for {pruner}, got {columns} columns")
    if hasattr(values, "tocsr"):
        return np.asarray(values.tocsc()[:, [place]].toarray()[:, 0])
    weights: Array = values.reshape(values.shape[0], columns)[:, place]
    return weights if is_tensor(weights) else np.asarray(weights)
