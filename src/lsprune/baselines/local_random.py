"""Keep k random neighbours per owner: the baseline that a local pruner must beat."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import EDGE, draw
from lsprune.pruners import LocalPruner
from lsprune.selection.choose import KeySource
from lsprune.selection.owners import bases


@dataclass(frozen=True, kw_only=True, repr=False)
class LocalRandom(LocalPruner):
    """Every owner keeps k random edges, which do not depend on the order of the edges.

    >>> LocalRandom(k=3)
    LocalRandom(k=3)
    """

    name: ClassVar[str] = "local-random"
    about: ClassVar[str] = "k random neighbours per owner"
    unbiased_problem: ClassVar[str] = ""

    @property
    def needs(self) -> Needs:
        """Say that keys depend on the ids of both ends."""
        return Needs(owner_id=True, gpu=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return a hash of (owner, neighbour) as key."""
        if runtime.device is not None:
            keys = import_module("lsprune.device.edge_keys").random_keys(graph, owned, self.side, self.seed)
            return KeySource.of_edges(keys)
        owner_base, neighbour_base = bases(graph, self.side)
        start = draw(self.seed, EDGE)

        def keys_of_owners(lo: int, hi: int) -> Array:
            begin, end = int(owned.indptr[lo]), int(owned.indptr[hi])
            out = np.empty(end - begin, np.uint64)
            neighbour = owned.neighbour[begin:end]
            runtime.module.hash_ends(
                start, owned.owners(lo, hi), neighbour, owner_base, neighbour_base, 0, end - begin, out
            )
            return (out >> np.uint64(1)).astype(np.int64)

        return KeySource.of_edges(keys_of_owners)
