"""How many nodes are within k hops of each node, and how much these sizes vary (the paper's appendix C)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lsprune.checks import is_whole, shown
from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime, runtime
from lsprune.selection.owners import by_owner

ROW_WORDS = 64  # 64-bit words of a row: the nodes within reach are counted 4,096 at a time


def neighbourhood_sizes(graph: Graph, hops: Iterable[int], *, threads: int | None = None) -> dict[int, Array]:
    """Return, for each number of hops, how many nodes each node reaches within them, itself included: `[N]`.

    Exact. Sets of nodes are bits: a hop is an OR over the edges, for thousands of nodes at once.

    >>> path = Graph.from_edges(np.array([[0, 1, 2], [1, 2, 3]]))
    >>> neighbourhood_sizes(path, [1, 2])[2].tolist()
    [3, 3, 2, 1]
    """
    wanted = _checked_hops(hops)
    if graph.bipartite:
        raise OptionError("graph must not be bipartite: hops need sources and targets that are the same nodes")
    run, nodes = runtime(threads), graph.num_nodes
    outgoing = by_owner(graph, "out", run)
    sizes = {hop: np.zeros(nodes, np.int64) for hop in wanted}
    for first in range(0, nodes, ROW_WORDS * 64):
        _follow(outgoing, first, min(ROW_WORDS * 64, nodes - first), sizes, run)
    return sizes


def _checked_hops(hops: Iterable[int]) -> list[int]:
    """Return the distinct numbers, smallest first."""
    values: list[Any] = list(hops) if isinstance(hops, Iterable) else []
    if not values or not all(is_whole(hop) and hop >= 0 for hop in values):
        raise OptionError(f"hops must be whole numbers >= 0, at least one, got {shown(values or hops)}")
    return sorted({int(hop) for hop in values})


def _follow(outgoing: Owned, first: int, count: int, sizes: dict[int, Array], run: Runtime) -> None:
    """Add to sizes[hop][v] how many of the nodes first .. first + count are within `hop` hops of v."""
    nodes = outgoing.indptr.shape[0] - 1
    here = np.zeros((nodes, -(-count // 64)), np.uint64)  # bit t of row v: node first + t is within reach of v
    bit = np.arange(count)
    here[first + bit, bit >> 6] = np.uint64(1) << (bit & 63).astype(np.uint64)
    there, done, growing = np.empty_like(here), 0, True
    for hop in sorted(sizes):
        while growing and done < hop:  # once no set grows, none ever does
            growing = _one_hop(outgoing, here, there, run)
            here, there, done = there, here, done + 1
        _count(here, sizes[hop], run)


def _one_hop(outgoing: Owned, here: Array, there: Array, run: Runtime) -> bool:
    changed, spread_bits = np.zeros(1, np.uint8), run.module.spread_bits
    run.spread(
        here.shape[0], lambda lo, hi: spread_bits(outgoing.indptr, outgoing.neighbour, here, there, changed, lo, hi)
    )
    return bool(changed[0])


def _count(rows: Array, sizes: Array, run: Runtime) -> None:
    run.spread(rows.shape[0], lambda lo, hi: run.module.count_bits(rows, lo, hi, sizes))


def neighbourhood_variance(graph: Graph, hops: Iterable[int], *, threads: int | None = None) -> dict[int, float]:
    """Return, for each number of hops, the population variance of the neighbourhood sizes over all nodes.

    >>> star = Graph.from_edges(np.array([[0, 0, 0], [1, 2, 3]]))
    >>> neighbourhood_variance(star, [1])
    {1: 1.6875}
    """
    return {hop: float(sizes.var()) for hop, sizes in neighbourhood_sizes(graph, hops, threads=threads).items()}
