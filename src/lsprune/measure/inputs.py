"""The data and the pruner that a measure is called with."""

from __future__ import annotations

from typing import Any

from lsprune import adapters
from lsprune.checks import pruner_error
from lsprune.errors import OptionError
from lsprune.graph import Graph
from lsprune.pruners import Pruner


def one_graph(data: Any) -> Graph:
    """Return the graph in `data`; the graphs of a list or tuple are joined into one.

    >>> import numpy as np
    >>> one_graph([np.array([[0, 1], [1, 0]]), Graph.from_edges(np.array([[0], [2]]))])
    Graph(nodes=5, edges=3, graphs=2)
    """
    if isinstance(data, (list, tuple)) and data:
        return Graph.concat([one_graph(item) for item in data])
    graphs = adapters.find(data).graphs(data)
    if set(graphs) != {None}:
        raise OptionError("data must hold one relation, got several; measure one relation of the HeteroData at a time")
    return graphs[None]


def check_pruner(pruner: Any) -> None:
    """Raise OptionError unless this is a pruner."""
    if not isinstance(pruner, Pruner):
        raise pruner_error(pruner)
