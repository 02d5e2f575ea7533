"""Hash families, edge weights, pruners and adapters of your own: what to derive from, and `register`.

A registered class is used like ours: by name in `LSP(hash="mine")`, `weights="mine"`, `lsprune.pruner("mine", k=8)`, in
studies and on the command line; and in memory, streamed and on Spark, as far as its `needs` allow. For the command
line, a package names a module that registers its classes under the entry point `lsprune.plugins`:

    [project.entry-points."lsprune.plugins"]
    mine = "my_package.pruning"
"""

from __future__ import annotations

from typing import Any, TypeVar

from lsprune.adapters import ADAPTERS, Adapter, Kept
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing import FAMILIES, Family
from lsprune.hashing.base import EdgeKeys, Keys, NodeKeys, View
from lsprune.hashing.keys import in_blocks, of_nodes, sums_of, uniform
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import draw
from lsprune.pruners import PRUNERS, LocalPruner, Pruner
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.registry import Registry
from lsprune.selection.choose import KeySource
from lsprune.selection.items import Items
from lsprune.selection.owners import slot_ids
from lsprune.weights import WEIGHTS, PerEdge, Weight

__all__ = [
    "USER", "Adapter", "Array", "EdgeKeys", "Family", "GlobalPruner", "Graph", "Items", "Kept", "KeySource", "Keys",
    "LocalPruner", "Needs", "NodeKeys", "Owned", "PerEdge", "Pruner", "Runtime", "View", "Weight", "draw", "in_blocks",
    "of_nodes", "register", "slot_ids", "sums_of", "uniform",
]  # fmt: skip

USER = 1 << 32  # draw(seed, USER + number, ...): what the draws of plugins are for, apart from ours
T = TypeVar("T", bound=type)
KINDS: tuple[tuple[type, Registry[Any]], ...] = (
    (Family, FAMILIES), (Weight, WEIGHTS), (Pruner, PRUNERS), (Adapter, ADAPTERS),
)  # fmt: skip


def register(new: T) -> T:
    """Make a class known by its `name`; may be used as a decorator.

    Args:
        new: a class derived from `Family`, `Weight`, `Pruner` (or `LocalPruner`, `GlobalPruner`) or `Adapter`.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import lsprune
    >>> @lsprune.register
    ... @dataclass(frozen=True, kw_only=True)
    ... class Heavy(Weight):
    ...     name = "heavy"
    ...     about = "prefer edges with a large first attribute"
    ...     @property
    ...     def needs(self):
    ...         return Needs(edge=True)
    ...     def values(self, graph, view, side):
    ...         return PerEdge(of_edge=graph.edge_attr[:, 0])
    >>> graph = Graph.from_edges(np.array([[0, 1, 2], [3, 3, 3]]), edge_attr=np.array([[1.0], [9.0], [1.0]]))
    >>> lsprune.LSP(k=1, hash="identity", weights="heavy:power=9").mask(graph)
    array([False,  True, False])
    >>> lsprune.WEIGHTS.remove("heavy")
    """
    for kind, registry in KINDS:
        if isinstance(new, type) and issubclass(new, kind):
            registry.add(new)
            return new
    raise OptionError(
        f"register takes classes derived from {', '.join(kind.__name__ for kind, _ in KINDS)}, got {new!r}"
    )
