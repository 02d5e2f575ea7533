"""A second reading of what local baselines do: dictionaries, loops, Python integers."""

from __future__ import annotations

import numpy as np

from lsprune import Graph
from lsprune.kernels.reference import mix
from lsprune.numeric.random_numbers import TIE


def owned_edges(graph: Graph, side: str = "in", loops: bool = False) -> dict[int, list[tuple[int, int]]]:
    """For every node the (edge, neighbour) that it owns."""
    source, target = (end.tolist() for end in graph.ends())
    found: dict[int, list[tuple[int, int]]] = {u: [] for u in range(max(graph.num_sources, graph.num_targets))}
    for e, (s, t) in enumerate(zip(source, target, strict=True)):
        if loops or s != t or graph.bipartite:
            found[t if side == "in" else s].append((e, s if side == "in" else t))
    return found


def best_of_each(graph: Graph, k: int, key, side: str = "in", loops: bool = False, seed: int = 0) -> np.ndarray:
    """The k edges of every owner with the smallest key(owner, neighbour, edge), equal ones by a hash of the neighbour.

    Self-loops that do not take part are kept.
    """
    source, target = graph.ends()
    mask = (source == target) & (not loops) & (not graph.bipartite)
    for u, mine in owned_edges(graph, side, loops).items():
        order = sorted(mine, key=lambda one: (key(u, one[1], one[0]), tie(seed, one[1]), one[1], one[0]))
        mask[[e for e, _ in order[:k]]] = True
    return mask


def tie(seed: int, neighbour: int) -> int:
    """The hash by which equal keys are ordered."""
    return mix(mix(mix(mix(seed) ^ TIE) ^ 1) ^ neighbour)
