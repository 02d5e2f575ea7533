"""Effective resistance: edges sampled by how much connections depend on them (Spielman and Srivastava 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import ClassVar

import numpy as np

from lsprune.checks import set_whole
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.kernels import Runtime
from lsprune.numeric.random_numbers import TREE, draw
from lsprune.numeric.weighted_sampling import log2, log_times
from lsprune.pruners.global_pruner import GlobalPruner
from lsprune.selection.csgraph import components
from lsprune.selection.items import Items, Links, links_of
from lsprune.selection.owners import node_base

STEPS = 1 << 12  # steps of all walks of a tree, for each node, before a graph is refused
_SPARE = 1 << 20  # and this many beside


@dataclass(frozen=True, kw_only=True, repr=False)
class EffectiveResistance(GlobalPruner):
    """Keeps edges at random, without replacement, with chances proportional to their effective resistance.

    The resistance of an edge is the share of all spanning trees that contain it, so it is estimated by drawing uniform
    spanning trees (Wilson's algorithm) and counting. NetworKit and a Laplacian solver with random projections estimate
    the same as floats that depend on version, threads and machine; counts of trees are integers, the same everywhere,
    need no package, and cost less for the same error (`benchmarks/resistance.py`). The price: an edge of resistance r
    is off by about sqrt((1 - r) / (r * trees)) of it, so edges of little resistance are known less well. They are told
    apart by one more tree that has an edge with chance 1/(deg(s) + 1) + 1/(deg(t) + 1), which bounds its resistance
    from below.

    Directions and parallel edges do not count: all edges between two nodes have the resistance of one link. A tree
    takes a few steps for each node in most graphs, but as many as there are nodes in cycles of thousands of nodes
    without short cuts; such graphs are refused with a GraphError.

    Args:
        trees: number of spanning trees. keep, k, side and the rest: as for `Random`.

    >>> EffectiveResistance(keep=0.5)
    EffectiveResistance(keep=0.5)
    """

    name: ClassVar[str] = "effective-resistance"
    about: ClassVar[str] = "sampled by effective resistance, from random spanning trees"

    trees: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        set_whole(self, "trees", 1, 2**20 - 1, "a whole number in [1, 2^20)")

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """The times of the race; a self-loop is in no tree and comes last, the smallest draws first."""
        links = links_of(graph, items)
        weight = self.weights(graph, links, runtime)
        log_weight = log2(weight, runtime)
        of_item = np.append(log_weight, -(1 << 50))[links.of_item]  # -1, the self-loops, is the last
        return log_times(items.draw, of_item, runtime)

    def weights(self, graph: Graph, links: Links, runtime: Runtime) -> Array:
        """(trees + 1) times the resistance of every link, in units of 2^-32, int64."""
        indptr, neighbour, _ = _adjacency(links.low, links.high, links.nodes)
        degree = np.diff(indptr)
        a, b = degree[links.low] + 1, degree[links.high] + 1
        left = degree.copy()
        runtime.module.two_core(indptr, neighbour, left)
        inner = np.flatnonzero((left[links.low] > 0) & (left[links.high] > 0))
        count = np.full(links.low.shape, self.trees)  # a link on which something hangs is in every tree
        count[inner] = self._trees_with(graph, links.low[inner], links.high[inner], links.nodes, runtime)
        return np.asarray((count << 32) + ((a + b) << 32) // (a * b))

    def _trees_with(self, graph: Graph, low: Array, high: Array, nodes: int, runtime: Runtime) -> Array:
        """How many of the trees contain each of these links."""
        total, lock = np.zeros(low.shape[0], np.int64), Lock()
        indptr, neighbour, link = _adjacency(low, high, nodes)
        local, root = _local_ids(graph), _roots(low, high, np.diff(indptr))
        starts = draw(self.seed, TREE, np.arange(self.trees))
        limit, fine = STEPS * nodes + _SPARE, []

        def some(lo: int, hi: int) -> None:
            counts = np.zeros_like(total)
            fine.append(runtime.module.count_spanning_trees(
                indptr, neighbour, link, local, root, starts[lo:hi], limit, counts))  # fmt: skip
            with lock:
                total[:] += counts

        runtime.spread(self.trees, some, -(-self.trees // (2 * runtime.threads)))
        if not all(fine):
            raise GraphError(
                "effective-resistance walks too long in this graph, which has long cycles without short cuts; use dspar"
                " or spanning-forest"
            )
        return total


def _adjacency(low: Array, high: Array, nodes: int) -> tuple[Array, Array, Array]:
    """(indptr, neighbour, link) of the undirected graph; links ascend, so the order of the edges changes nothing."""
    node, other = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.argsort(node, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]).astype(np.int64)
    return indptr, other[order], np.concatenate([np.arange(low.size)] * 2)[order]


def _roots(low: Array, high: Array, degree: Array) -> Array:
    """1 for one node of every component: walks end soonest at the one with most links; of several, the first."""
    from scipy.sparse import coo_array

    nodes = degree.shape[0]
    matrix = coo_array((np.ones(low.shape[0], np.int8), (low, high)), shape=(nodes, nodes))
    label = components(matrix)[1]
    order = np.lexsort((-degree, label))
    root = np.zeros(nodes, np.uint8)
    root[order[np.append(True, label[order][1:] != label[order][:-1])] if order.size else order] = 1
    return root


def _local_ids(graph: Graph) -> Array:
    """The id of each node within its graph and kind: what its draws depend on."""
    if not graph.bipartite:
        base = node_base(graph.target_ptr)
        return np.arange(graph.num_targets) - (base if base.size else 0)
    ends = ((graph.num_sources, graph.source_ptr), (graph.num_targets, graph.target_ptr))
    local = [np.arange(count) - (node_base(ptr) if ptr is not None else 0) for count, ptr in ends]
    return np.concatenate([local[0], ~local[1]])  # targets from -1 down: no two nodes of a graph alike
