"""k random neighbours per owner: the baseline that any claim must beat."""

from __future__ import annotations

from dataclasses import dataclass
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
    """Every owner keeps k of its edges at random, the same ones in any edge order.

    >>> LocalRandom(k=3)
    LocalRandom(k=3)
    """

    name: ClassVar[str] = "local-random"
    about: ClassVar[str] = "k random neighbours per owner"

    @property
    def needs(self) -> Needs:
        """Say that keys depend on both ids."""
        return Needs(owner_id=True)

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """One random key for each (owner, neighbour)."""
        own_base, other_base = bases(graph, self.side)
        start = draw(self.seed, EDGE)

        def of(lo: int, hi: int) -> Array:
            begin, end = int(owned.indptr[lo]), int(owned.indptr[hi])
            out = np.empty(end - begin, np.uint64)
            neighbour = owned.neighbour[begin:end]
            runtime.module.hash_ends(start, owned.owners(lo, hi), neighbour, own_base, other_base, 0, end - begin, out)
            return (out >> np.uint64(1)).astype(np.int64)

        return KeySource.of_edges(of)
