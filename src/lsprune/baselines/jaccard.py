"""The neighbours who know the same nodes: local similarity, L-Spar (Satuluri et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lsprune.checks import check_flag, set_whole
from lsprune.common_neighbours import overlaps
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import STEPS
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import MINHASH, draw
from lsprune.pruners import LocalPruner
from lsprune.selection.choose import KeySource
from lsprune.selection.owners import bases

EDGE_BYTES = 140  # that counting common neighbours takes for each edge
EMPTY = np.uint32(2**32 - 1)  # the min-hash of nobody; draws have 31 bits


@dataclass(frozen=True, kw_only=True, repr=False)
class Jaccard(LocalPruner):
    """Every owner keeps the k neighbours whose neighbour sets are most like its own by Jaccard, equal ones by a hash.

    The neighbours of a node are those of the edges that it owns under `side`, each once. By default the similarity is
    the number of equal min-hashes, which takes `hashes` comparisons an edge and 128 bytes a node, and is off by about
    sqrt(j (1 - j) / hashes) for a similarity of j. `exact` counts common neighbours instead: for every edge, the
    smaller of the two sets is looked up in the larger, and 16 bytes an edge are needed.

    Args:
        hashes: number of min-hashes. exact: the similarity itself, to 2^-31.

    >>> Jaccard(k=3)
    Jaccard(k=3)
    """

    name: ClassVar[str] = "jaccard"
    about: ClassVar[str] = "the k neighbours that share most neighbours, per owner (L-Spar)"

    hashes: int = 64
    exact: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        set_whole(self, "hashes", 1, 2**16 - 1, "a whole number in [1, 2^16)")
        check_flag("exact", self.exact)
        object.__setattr__(self, "exact", bool(self.exact))

    @property
    def needs(self) -> Needs:
        """Say that the neighbours of both ends must be known."""
        return Needs(
            scope="neighbourhood",
            reason="jaccard compares the neighbours of both ends of an edge",
            edge_bytes=EDGE_BYTES if self.exact else 0,
        )

    def key_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """The similarity as key, turned round."""
        if graph.bipartite:
            raise GraphError(
                "jaccard needs one kind of nodes: sources and targets of two kinds have no common neighbours"
            )
        if self.exact:
            common, union = overlaps(owned, graph.num_nodes, runtime)
            key = -((common << 31) // union)
        else:
            key = -self._matches(owned, bases(graph, self.side)[1], graph.num_nodes, runtime)

        def of(lo: int, hi: int) -> Array:
            return key[owned.indptr[lo] : owned.indptr[hi]].astype(np.int64)

        return KeySource.of_edges(of)

    def _matches(self, owned: Owned, base: Array, nodes: int, runtime: Runtime) -> Array:
        """The number of equal min-hashes of owner and neighbour, for every slot; functions go in blocks of 16."""
        counts, module = runtime.zeros(owned.neighbour.shape[0], np.int32), runtime.module
        for first in range(0, self.hashes, STEPS):
            width = min(STEPS, self.hashes - first)
            table, rows = (runtime.zeros((nodes, width), np.uint32) for _ in range(2))
            rows[:] = EMPTY

            def fill(lo: int, hi: int, first: int = first, table: Array = table) -> None:
                local = np.arange(lo, hi) - (base[lo:hi] if base.size else 0)
                steps = np.arange(first, first + table.shape[1])[None, :]
                table[lo:hi] = draw(self.seed, MINHASH, steps, local[:, None]) >> np.uint64(33)

            def least(lo: int, hi: int, table: Array = table, rows: Array = rows) -> None:
                module.min_rows(owned.indptr, owned.neighbour, table, lo, hi, rows)

            def compare(lo: int, hi: int, rows: Array = rows) -> None:
                module.count_equal(owned.indptr, owned.neighbour, rows, lo, hi, counts)

            runtime.spread(nodes, fill, 1 << 14)
            runtime.spread(nodes, least)
            runtime.spread(nodes, compare)
        return counts
