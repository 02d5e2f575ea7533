"""Keep the neighbours that share most neighbours with the owner: L-Spar (Satuluri et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar

import numpy as np

from lsprune.checks import check_flag, set_whole
from lsprune.common_neighbours import OVERLAP_EDGE_BYTES, overlaps
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import BLOCK_FUNCTIONS
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import MINHASH, draw, is_tensor
from lsprune.pruners.contract import SAME_EDGES
from lsprune.pruners.scored import ScoredPruner
from lsprune.selection.choose import KeySource
from lsprune.selection.owners import bases

EMPTY_SET_HASH = np.uint32(2**32 - 1)  # min-hash of a node without neighbours; all others have 31 bits


@dataclass(frozen=True, kw_only=True, repr=False)
class Jaccard(ScoredPruner):
    """Every owner keeps the k neighbours of largest Jaccard similarity of neighbour sets; a hash breaks ties.

    The set of a node holds the neighbours of the edges that it owns under `side`, each once. By default the similarity
    j is estimated by the number of equal min-hashes, with a standard error of sqrt(j (1 - j) / hashes). This takes
    `hashes` comparisons per edge and 128 bytes per node. `exact` counts common neighbours instead: for every edge, the
    members of the smaller set are looked up in the larger one.

    L-Spar itself is `Jaccard(budget=PerNode(exponent=0.5), symmetric="union")`: every node keeps degree^0.5 edges.

    Args:
        hashes: number of min-hashes. exact: compute the similarity itself, to 2^-31.

    >>> Jaccard(k=3)
    Jaccard(k=3)
    """

    name: ClassVar[str] = "jaccard"
    about: ClassVar[str] = "the k neighbours per owner that share most neighbours with it (L-Spar)"
    unbiased_problem: ClassVar[str] = SAME_EDGES

    hashes: int = 64
    exact: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        set_whole(self, "hashes", 1, 2**16 - 1, "a whole number in [1, 2^16)")
        check_flag("exact", self.exact)
        object.__setattr__(self, "exact", bool(self.exact))

    @property
    def score_needs(self) -> Needs:
        """Say that keys depend on the neighbours of both ends."""
        return Needs(
            scope="neighbourhood",
            reason="jaccard compares the neighbours of both ends of an edge",
            edge_bytes=OVERLAP_EDGE_BYTES if self.exact else 0,
            gpu=True,
        )

    def score_source(self, graph: Graph, owned: Owned, runtime: Runtime) -> KeySource:
        """Return the negated similarity as key."""
        if graph.bipartite:
            raise GraphError(
                "jaccard needs one kind of nodes: sources and targets of two kinds have no common neighbours"
            )
        if self.exact:
            common, union = overlaps(owned, graph.num_nodes, runtime)
            key = -((common << 31) // union)
        elif runtime.device is not None:
            tools = import_module("lsprune.device.edge_keys")
            return KeySource.of_edges(tools.match_keys(graph, owned, self.side, self.seed, self.hashes))
        else:
            key = -self._matches(owned, bases(graph, self.side)[1], graph.num_nodes, runtime)

        def keys_of_owners(lo: int, hi: int) -> Array:
            start, stop = owned.bounds(lo, hi)
            keys: Array = key[start:stop]
            return keys if is_tensor(keys) else keys.astype(np.int64)

        return KeySource.of_edges(keys_of_owners)

    def scores_of_keys(self, keys: Array) -> Array:
        """Return the (estimated) Jaccard similarity of the ends, in [0, 1]; the largest are kept."""
        return -keys / (2.0**31 if self.exact else self.hashes)

    def _matches(self, owned: Owned, base: Array, nodes: int, runtime: Runtime) -> Array:
        """Return the number of equal min-hashes of owner and neighbour for every slot, computed 16 hashes at a time."""
        counts, module = runtime.zeros(owned.neighbour.shape[0], np.int32), runtime.module
        for first in range(0, self.hashes, BLOCK_FUNCTIONS):
            width = min(BLOCK_FUNCTIONS, self.hashes - first)
            table, minima = (runtime.zeros((nodes, width), np.uint32) for _ in range(2))
            minima[:] = EMPTY_SET_HASH

            def hash_ids(lo: int, hi: int, first: int = first, table: Array = table) -> None:
                local = np.arange(lo, hi) - (base[lo:hi] if base.size else 0)
                steps = np.arange(first, first + table.shape[1])[None, :]
                table[lo:hi] = draw(self.seed, MINHASH, steps, local[:, None]) >> np.uint64(33)

            def take_minima(lo: int, hi: int, table: Array = table, minima: Array = minima) -> None:
                module.min_rows(owned.indptr, owned.neighbour, table, lo, hi, minima)

            def compare(lo: int, hi: int, minima: Array = minima) -> None:
                module.count_equal(owned.indptr, owned.neighbour, minima, lo, hi, counts)

            runtime.spread(nodes, hash_ids, 1 << 14)
            runtime.spread(nodes, take_minima)
            runtime.spread(nodes, compare)
        return counts
