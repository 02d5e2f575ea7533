"""The adapters: from any graph object lsprune knows to `Graph`, and from a mask back to the same kind of object."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.adapters.base import Adapter, Kept, Key
from lsprune.errors import GraphError
from lsprune.graph import Graph

__all__ = ["Adapter", "Kept", "Key", "find"]

ACCEPTED = (
    "lsprune.Graph, a numpy array [2, E], a scipy.sparse matrix, a NetworkX graph, "
    "a PyG Data, HeteroData, Batch, EdgeIndex or dataset, a torch tensor, or a list of PyG objects"
)
_TORCH = {"torch", "torch_geometric", "torch_sparse"}


def find(data: Any) -> Adapter:
    """The adapter for this kind of object; raises GraphError when there is none.

    A kind is known by the modules its classes come from, so that no library is imported which the caller did not
    already import to make the object.

    >>> find(np.array([[0, 1], [1, 0]]))
    EdgeArray()
    """
    first = data[0] if isinstance(data, (list, tuple)) and data else data
    if _libraries(first) & _TORCH:
        from lsprune.adapters import pyg

        if (found := pyg.find(data)) is not None:
            return found
    if isinstance(data, (Graph, np.ndarray)):
        from lsprune.adapters import arrays

        return arrays.NativeGraph() if isinstance(data, Graph) else arrays.EdgeArray()
    if "scipy" in _libraries(data):
        from lsprune.adapters import scipy as sparse

        return sparse.SparseMatrix()
    if "networkx" in _libraries(data):
        from lsprune.adapters import networkx as networks

        return networks.Network()
    raise GraphError(f"cannot prune {_describe(data)}; accepted are {ACCEPTED}")


def _libraries(data: Any) -> set[str]:
    return {kind.__module__.partition(".")[0] for kind in type(data).__mro__}


def _describe(data: Any) -> str:
    name = type(data).__name__
    if isinstance(data, (list, tuple)):
        return f"a {name} of {type(data[0]).__name__}" if data else f"an empty {name}"
    return f"an object of type {name}"
