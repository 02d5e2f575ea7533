"""Edges, or pairs of edges, that a pruner chooses among over the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph


@dataclass(frozen=True, eq=False)
class Items:
    """What a pruner chooses among: edges as (source, target), or pairs as (lower id, higher id)."""

    source: Array  # [edges that take part]
    target: Array
    first: Array  # [items]
    second: Array
    draw: Array  # [items] uint64: a hash of the seed and the two ids, local to their graph


def smallest(keys: Array, draws: Array, member: Array, counts: Array, ends: tuple[Array, Array]) -> Array:
    """Mark the counts[g] items of each graph that come first by key, then draw, then position.

    Args:
        member: the graph of each item; empty for one graph, or several with one budget. Items of different graphs may
            have the same local ids and so the same draw: `ends`, the ids in all graphs together, come before position.
    """
    if member.size == 0:
        count = int(counts[0])
        if count >= keys.size:
            return np.ones(keys.shape, bool)
        limit = np.partition(keys, count)[count]
        selected: Array = keys < limit
        equal = np.flatnonzero(keys == limit)
        first, second = (end[equal] for end in ends)
        order = np.lexsort((second, first, draws[equal]))
        selected[equal[order][: count - int(selected.sum())]] = True
        return selected
    order = np.lexsort((keys, member) if keys is draws else (draws, keys, member))
    start = np.searchsorted(member[order], np.arange(counts.shape[0]))
    selected = np.zeros(keys.shape, bool)
    selected[order[np.arange(order.size) - start[member[order]] < counts[member[order]]]] = True
    return selected


@dataclass(frozen=True, eq=False)
class Links:
    """The items as links of a simple undirected graph: no parallel links, no self-loops."""

    nodes: int  # sources, then targets, if they are two kinds of nodes
    low: Array  # [links] lower end, ascending; then the higher ends ascend
    high: Array
    of_item: Array  # [items] its link, or -1 for a self-loop


def links_of(graph: Graph, items: Items) -> Links:
    """Return the links between the ends of the items, each once, in either direction."""
    shift = graph.num_sources if graph.bipartite else 0
    first, second = items.first.astype(np.int64), items.second.astype(np.int64) + shift
    low, high = np.minimum(first, second), np.maximum(first, second)
    real = low != high
    both, index = np.unique(low[real] * np.int64(graph.num_nodes) + high[real], return_inverse=True)
    of_item = np.full(low.shape, -1, np.int64)
    of_item[real] = index
    return Links(graph.num_nodes, both // max(graph.num_nodes, 1), both % max(graph.num_nodes, 1), of_item)
