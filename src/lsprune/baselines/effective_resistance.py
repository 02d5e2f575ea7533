"""Sample edges by effective resistance: how much connectivity depends on them (Spielman and Srivastava 2008)."""

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

MAX_WALK_STEPS_PER_NODE = 1 << 12  # total length of the random walks of a tree, per node, before a graph is refused
EXTRA_WALK_STEPS = 1 << 20  # allowed for every tree in addition


@dataclass(frozen=True, kw_only=True, repr=False)
class EffectiveResistance(GlobalPruner):
    """Sample an exact share of the edges, without replacement, proportionally to their effective resistance.

    The resistance of an edge is the share of all spanning trees that contain it. It is estimated by drawing uniform
    spanning trees (Wilson's algorithm) and counting. NetworKit, or a Laplacian solver with random projections, gives
    floats that depend on version, threads and machine. Counts of trees are integers and the same everywhere, need no
    extra package, and take less time for the same error (`benchmarks/resistance.py`). The relative error of a
    resistance r is about sqrt((1 - r) / (r * trees)), so small resistances are less accurate. To distinguish edges that
    are in no tree, 1/(deg(s) + 1) + 1/(deg(t) + 1), a lower bound of the resistance, is added as if it were one more
    tree.

    Directions and parallel edges do not count: all edges between two nodes have the resistance of one link. In most
    graphs a tree takes a few steps per node. On cycles of thousands of nodes without shortcuts it takes as many steps
    per node as there are nodes; such graphs are refused with a GraphError.

    Args:
        trees: number of spanning trees. For the other options see `Random`.

    >>> EffectiveResistance(keep=0.5)
    EffectiveResistance(keep=0.5)
    """

    name: ClassVar[str] = "effective-resistance"
    about: ClassVar[str] = "a random share of all edges, weighted by effective resistance (random spanning trees)"

    trees: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        set_whole(self, "trees", 1, 2**20 - 1, "a whole number in [1, 2^20)")

    def keys(self, graph: Graph, items: Items, runtime: Runtime) -> Array:
        """Return log-times of weighted sampling; self-loops are in no tree and come last, the smallest draws first."""
        links = links_of(graph, items)
        log_weights = log2(self.weights(graph, links, runtime), runtime)
        of_item = np.append(log_weights, -(1 << 50))[links.of_item]  # self-loops have link -1: the appended entry
        return log_times(items.draw, of_item, runtime)

    def edge_scores(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the estimated resistance of each edge, which it is drawn in proportion to; NaN for self-loops."""
        source, target = (np.asarray(end) for end in graph.ends())
        links = links_of(graph, Items(source, target, source, target, np.empty(0, np.uint64)))
        resistance = self.weights(graph, links, runtime) / (self.trees + 1) / 2.0**32
        return np.append(resistance, np.nan)[links.of_item]

    def weights(self, graph: Graph, links: Links, runtime: Runtime) -> Array:
        """Return (trees + 1) times the resistance of every link, in units of 2^-32, int64."""
        indptr, neighbour, _ = _adjacency(links.low, links.high, links.nodes)
        degree = np.diff(indptr)
        a, b = degree[links.low] + 1, degree[links.high] + 1
        core_degree = degree.copy()
        runtime.module.two_core(indptr, neighbour, core_degree)
        in_core = np.flatnonzero((core_degree[links.low] > 0) & (core_degree[links.high] > 0))
        counts = np.full(links.low.shape, self.trees)  # a link outside of the 2-core is in every tree
        counts[in_core] = self._trees_with(graph, links.low[in_core], links.high[in_core], links.nodes, runtime)
        return np.asarray((counts << 32) + ((a + b) << 32) // (a * b))

    def _trees_with(self, graph: Graph, low: Array, high: Array, nodes: int, runtime: Runtime) -> Array:
        """Return the number of trees that contain each of these links; raise GraphError if the walks are too long."""
        total, lock = np.zeros(low.shape[0], np.int64), Lock()
        indptr, neighbour, link = _adjacency(low, high, nodes)
        local, root = _local_ids(graph), _roots(low, high, np.diff(indptr))
        starts = draw(self.seed, TREE, np.arange(self.trees))
        limit, completed = MAX_WALK_STEPS_PER_NODE * nodes + EXTRA_WALK_STEPS, []

        def draw_trees(lo: int, hi: int) -> None:
            counts = np.zeros_like(total)
            completed.append(runtime.module.count_spanning_trees(
                indptr, neighbour, link, local, root, starts[lo:hi], limit, counts))  # fmt: skip
            with lock:
                total[:] += counts

        runtime.spread(self.trees, draw_trees, -(-self.trees // (2 * runtime.threads)))
        if not all(completed):
            raise GraphError(
                "effective-resistance takes too long on this graph, which has long cycles without shortcuts; use dspar"
                " or spanning-forest"
            )
        return total


def _adjacency(low: Array, high: Array, nodes: int) -> tuple[Array, Array, Array]:
    """Return (indptr, neighbour, link) of the undirected graph, by ascending link: independent of the edge order."""
    node, other = np.concatenate([low, high]), np.concatenate([high, low])
    order = np.argsort(node, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=nodes))]).astype(np.int64)
    return indptr, other[order], np.concatenate([np.arange(low.size)] * 2)[order]


def _roots(low: Array, high: Array, degree: Array) -> Array:
    """Return 1 for the root of every component: the first node with most links, where walks end soonest; else 0."""
    from scipy.sparse import coo_array

    nodes = degree.shape[0]
    matrix = coo_array((np.ones(low.shape[0], np.int8), (low, high)), shape=(nodes, nodes))
    label = components(matrix)[1]
    order = np.lexsort((-degree, label))
    root = np.zeros(nodes, np.uint8)
    root[order[np.append(True, label[order][1:] != label[order][:-1])] if order.size else order] = 1
    return root


def _local_ids(graph: Graph) -> Array:
    """Return the id of each node within its graph and kind, from which its random draws are made."""
    if not graph.bipartite:
        base = node_base(graph.target_ptr)
        return np.arange(graph.num_targets) - (base if base.size else 0)
    ends = ((graph.num_sources, graph.source_ptr), (graph.num_targets, graph.target_ptr))
    local = [np.arange(count) - (node_base(ptr) if ptr is not None else 0) for count, ptr in ends]
    return np.concatenate([local[0], ~local[1]])  # targets count down from -1: no source has the same id
