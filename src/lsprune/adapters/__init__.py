"""Adapters: from any graph object that lsprune knows to `Graph`, and from a mask back to the same kind of object."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

from lsprune.adapters.base import Adapter, Kept, Key, libraries
from lsprune.errors import GraphError
from lsprune.registry import Registry, load_plugins

__all__ = ["ADAPTERS", "Adapter", "Kept", "Key", "find", "libraries"]

ADAPTERS: Registry[Adapter] = Registry("adapter")  # of users and plugins
ACCEPTED = (
    "lsprune.Graph, a numpy array [2, E], a scipy.sparse matrix, a NetworkX or igraph graph, a pandas or Polars frame, "
    "a PyArrow table, a DuckDB relation, "
    "a PyG Data, HeteroData, TemporalData, Batch, EdgeIndex or dataset, a torch tensor, or a list of PyG objects"
)
_MODULES = {  # package that the class of an object is from: our module with the adapters for it
    "torch": "pyg", "torch_geometric": "pyg", "torch_sparse": "pyg", "lsprune": "arrays", "numpy": "arrays",
    "scipy": "scipy", "networkx": "networkx", "pandas": "tables", "polars": "tables", "pyarrow": "tables",
    "duckdb": "tables", "_duckdb": "tables", "igraph": "igraph",
}  # fmt: skip


def find(data: Any) -> Adapter:
    """Return the adapter for this kind of object; raise GraphError if there is none.

    Registered adapters come first, then ours, then those of plugins that are not loaded yet. Ours are chosen by the
    packages that the classes of the object are from, so that no library is imported which the caller does not use.

    >>> import numpy as np
    >>> find(np.array([[0, 1], [1, 0]]))
    ArrayAdapter()
    """
    for kind in (*ADAPTERS.values(), *_ours(data)):
        if kind.accepts(data):
            return kind()
    load_plugins()
    for kind in ADAPTERS.values():
        if kind.accepts(data):
            return kind()
    registered = "".join(f", {kind.about}" for kind in ADAPTERS.values())
    raise GraphError(f"cannot prune {_describe(data)}; accepted are {ACCEPTED}{registered}")


def _ours(data: Any) -> tuple[type[Adapter], ...]:
    """Return our adapters that may fit; a list is one of a kind that its first entry is of."""
    first = data[0] if isinstance(data, (list, tuple)) and data else data
    kind: Any = type(first)
    return _adapters_for(kind, "torch_geometric" in sys.modules)


@lru_cache(maxsize=256)
def _adapters_for(kind: type, pyg: bool) -> tuple[type[Adapter], ...]:
    """Return our adapters for objects of a class; `pyg` says whether PyG is imported, without which it has none."""
    packages = {base.__module__.partition(".")[0] for base in kind.__mro__}
    modules = dict.fromkeys(module for package, module in _MODULES.items() if package in packages)
    return tuple(adapter for module in modules for adapter in import_module(f"lsprune.adapters.{module}").kinds())


def _describe(data: Any) -> str:
    name = type(data).__name__
    if isinstance(data, (list, tuple)):
        return f"a {name} of {type(data[0]).__name__}" if data else f"an empty {name}"
    return f"an object of type {name}"
