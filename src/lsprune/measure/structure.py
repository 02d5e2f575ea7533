"""The structure of a graph: components, degrees, clustering, homophily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.checks import check_choice, check_count
from lsprune.errors import OptionError
from lsprune.graph import SIDES, Array, Graph, oriented
from lsprune.measure.adjacency import numbered_ends, undirected
from lsprune.numeric.distinct import distinct
from lsprune.selection.csgraph import components

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
TRIANGLE_NODES = 256  # nodes whose triangles are counted at a time


@dataclass(frozen=True)
class Structure:
    """The structure of a graph. Directions, self-loops and parallel edges count only where it says so."""

    nodes: int
    edges: int  # as stored: every direction, loop and duplicate
    components: int  # connected components; an isolated node is one
    largest: float  # share of the nodes in the largest component
    isolated: int  # nodes without a neighbour
    degree_mean: float
    degrees: tuple[float, ...]  # quantiles of the degree, at QUANTILES
    clustering: float  # mean local clustering coefficient; 0 for nodes with fewer than 2 neighbours
    homophily: float | None  # share of the stored edges, self-loops not counted, whose ends have one label


def structure(
    graph: Graph, mask: Array | None = None, labels: Any = None, *, side: str | None = None, sample: int = 2000,
    seed: int = 0,
) -> Structure:  # fmt: skip
    """Measure the structure of a graph, or of the edges that a mask keeps; all nodes stay.

    Args:
        mask: `[E]` True = kept; default all edges.
        labels: `[N]` one for each node (sources, then targets of a bipartite graph), for `homophily`.
        side: which neighbours the degree counts, each once: in either direction (None), in-neighbours ("in") or
            out-neighbours ("out").
        sample: number of random nodes for the clustering coefficient; exact for graphs with no more nodes.

    >>> path = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 3]]))
    >>> after = structure(path, np.array([True, False, True]), labels=[0, 0, 1, 0])
    >>> after.components, after.isolated, after.degrees[-1], after.homophily
    (2, 0, 1.0, 0.5)
    """
    check_choice("side", side, (None, *SIDES))
    check_count("sample", sample)
    check_count("seed", seed, 0)
    joined = undirected(graph, mask)
    source, target = numbered_ends(graph, mask)
    count, member = components(joined)
    nodes, degree = graph.num_nodes, degrees(graph, mask, side)
    return Structure(
        nodes=nodes,
        edges=int(source.size),
        components=count,
        largest=float(np.bincount(member).max() / nodes) if nodes else float("nan"),
        isolated=int((np.diff(joined.indptr) == 0).sum()),
        degree_mean=float(degree.mean()) if degree.size else float("nan"),
        degrees=tuple(np.quantile(degree, QUANTILES).tolist()) if degree.size else (float("nan"),) * len(QUANTILES),
        clustering=_clustering(joined, sample, seed),
        homophily=None if labels is None else _homophily(source, target, _checked_labels(labels, nodes)),
    )


def degrees(graph: Graph, mask: Array | None = None, side: str | None = None) -> Array:
    """Return the number of distinct neighbours of each node `[N]`, in either direction or on one side; no self-loops.

    >>> degrees(Graph.from_edges(np.array([[0, 1, 1, 2], [1, 0, 2, 2]]))).tolist()
    [1, 2, 1]
    """
    check_choice("side", side, (None, *SIDES))
    if side is None:
        return np.asarray(np.diff(undirected(graph, mask).indptr))
    source, target = numbered_ends(graph, mask)
    owner, other = oriented(side, source, target)
    different = distinct((owner * np.int64(graph.num_nodes) + other)[source != target])
    counts = np.bincount(different // max(graph.num_nodes, 1), minlength=graph.num_nodes)
    if not graph.bipartite:
        return counts
    return oriented(side, counts[: graph.num_sources], counts[graph.num_sources :])[0]


def _clustering(joined: Any, sample: int, seed: int) -> float:
    """Return the mean local clustering coefficient of a symmetric 0/1 matrix without loops, over all or some nodes."""
    nodes = joined.shape[0]
    if not nodes:
        return float("nan")
    sampled = np.arange(nodes)
    if nodes > sample:
        sampled = np.sort(np.random.default_rng(seed).choice(nodes, sample, replace=False))
    degree, shares = np.asarray(np.diff(joined.indptr)), [0.0]
    sampled, count = sampled[degree[sampled] > 1], sampled.size  # the others add 0
    for first in range(0, sampled.size, TRIANGLE_NODES):
        block = sampled[first : first + TRIANGLE_NODES]
        rows = joined[block]
        closed = np.asarray((rows @ joined).multiply(rows).sum(axis=1)).ravel()  # twice the triangles of each node
        shares.append(float((closed / (degree[block] * (degree[block] - 1.0))).sum()))
    return sum(shares) / int(count)


def _homophily(source: Array, target: Array, labels: Array) -> float:
    real = source != target
    same = labels[source[real]] == labels[target[real]]
    return float(same.mean()) if same.size else float("nan")


def _checked_labels(labels: Any, nodes: int) -> Array:
    array = np.asarray(labels)
    if array.shape != (nodes,):
        raise OptionError(f"labels must have shape [{nodes}], one for each node, got {list(array.shape)}")
    return array
