"""Which graph of a list an error is about, where the graphs were joined and the error names a row of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from lsprune.adapters.base import Key
from lsprune.errors import GraphError, RowError
from lsprune.graph import Graph
from lsprune.numeric.random_numbers import is_tensor


@contextmanager
def naming_graph_of_row(graphs: Mapping[Key, Graph]) -> Iterator[None]:
    """Say which graph holds a row that is not finite, and number the row within it.

    >>> import numpy as np
    >>> pair = Graph.from_edges(np.array([[0, 2], [1, 3]]), x=np.array([[0.0], [0.0], [0.0], [np.nan]]), ptr=[0, 2, 4])
    >>> with naming_graph_of_row({None: pair}):
    ...     raise RowError.at("x must be finite, got nan", "x", 3)
    Traceback (most recent call last):
    lsprune.errors.GraphError: graph 1: x must be finite, got nan in row 1
    """
    try:
        yield
    except RowError as error:
        named = _named(error, graphs.get(None))
        if named is None:
            raise
        raise GraphError(named) from None


def _named(error: RowError, graph: Graph | None) -> str | None:
    """Return the message with the graph; None if it is about another attribute, or there is only one graph."""
    name, row = error.name, error.row
    if name not in ("x", "edge_attr") or row < 0 or graph is None or graph.num_graphs < 2 or graph.bipartite:
        return None
    values = graph.x_target if name == "x" else graph.edge_attr
    if values is None or row >= values.shape[0] or _is_finite(values, row):
        return None  # a row of something that was derived from these
    first = _on_host(graph.target_ptr)
    if name == "x":
        number = int(np.searchsorted(first, row, side="right")) - 1
        within = row - int(first[number])
    else:
        of_edge = np.searchsorted(first, _on_host(graph.ends()[1]), side="right") - 1
        number = int(of_edge[row])
        within = int((of_edge[:row] == number).sum())
    return f"graph {number}: {error.problem} in row {within}"


def _is_finite(values: Any, row: int) -> bool:
    one = values[[row]] if hasattr(values, "tocsr") else values[row]
    numbers = _on_host(one.data if hasattr(one, "tocsr") else one)
    with np.errstate(over="ignore"):
        return bool(np.isfinite(numbers.astype(np.float32)).all())


def _on_host(values: Any) -> Any:
    return values.detach().cpu().numpy() if is_tensor(values) else np.asarray(values)
