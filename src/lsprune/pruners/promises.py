"""Edges or pairs as items that must stay, may stay or must go, so that promises are met within the budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime, plain
from lsprune.numeric.random_numbers import EDGE, draw
from lsprune.pruners import Pruner
from lsprune.selection.items import Items, smallest
from lsprune.selection.owners import node_base, which_graph
from lsprune.selection.pairs import pair_up

# Why an item stays or goes, the strongest reason first: up to LEAST it must stay, up to JOINS even above max_degree.
PROTECTED, JOINS, LEAST, KEPT, REST, OVER = range(6)


@dataclass(frozen=True, eq=False)
class ItemsOfGraph:
    """The edges of a graph as items that stay or go: single edges, or pairs of both directions."""

    graph: Graph
    ends: Items
    of_edge: Array  # [edges that take part] its item
    item: Array  # [edges that count for nodes] likewise
    owner: Array
    neighbour: Array

    def items(self, of_edges: Array) -> Array:
        """Mark items that have a marked edge."""
        marked = np.zeros(self.ends.draw.shape, bool)
        marked[self.of_edge[of_edges]] = True
        return marked

    def least(self, level: Array, most: int) -> Array:
        """Mark the items that must stay too, so that every node keeps `most` of its edges."""
        order = np.lexsort((self.ends.draw[self.item], level[self.item], self.owner))
        first = order[_places(self.owner[order]) < most]
        marked_items = np.zeros(level.shape, bool)
        marked_items[self.item[first]] = True
        marked_items &= level > JOINS
        # A pair counts for two nodes: release pairs that neither of them needs.
        stays = (marked_items | (level <= JOINS))[self.item]
        owners = int(self.owner.max(initial=-1)) + 1
        has, had = (np.bincount(node, minlength=owners) for node in (self.owner[stays], self.owner))
        room, here = has - np.minimum(had, most), np.flatnonzero(marked_items[self.item])
        if not room.any():
            return marked_items
        return marked_items & ~fitting(self.item[here], self.owner[here], room, -self._rank(level))

    def within(self, kept: Array, level: Array) -> tuple[Array, bool]:
        """Mark as many items of each graph as were kept: those that must stay, then kept ones by draw.

        Return also whether more had to stay in some graph.
        """
        member, graphs = which_graph(self.graph.target_ptr, self.graph.num_targets, False)
        of_item = np.zeros(level.shape, np.int64)
        of_item[self.of_edge] = member[self.ends.target]
        budget, needed = (np.bincount(of_item[part], minlength=graphs) for part in (kept, level <= LEAST))
        ends = self.ends.first, self.ends.second
        selected = smallest(level, self.ends.draw, of_item, np.maximum(budget, needed), ends)
        return selected, bool(np.any(needed > budget))

    def over(self, selected: Array, level: Array, most: tuple[int | None, int | None]) -> Array:
        """Mark the items to remove so that no node exceeds its two maximum degrees."""
        caps = [(node, cap) for node, cap in zip((self.owner, self.neighbour), most, strict=True) if cap is not None]
        nodes, here = self.graph.num_nodes, np.flatnonzero(selected[self.item])
        item = np.tile(self.item[here], len(caps))
        node = np.concatenate([here[:0], *(node[here] + i * nodes for i, (node, _) in enumerate(caps))])
        safe = level[item] <= JOINS
        room = np.repeat([cap for _, cap in caps], nodes) - np.bincount(node[safe], minlength=nodes * len(caps))
        over = np.zeros(level.shape, bool)
        over[item[~safe]] = True
        return over & ~fitting(item[~safe], node[~safe], room, self._rank(level))

    def _rank(self, level: Array) -> Array:
        """Return the rank of each item by level, then draw, then position."""
        rank = np.empty(level.shape, np.int64)
        rank[np.lexsort((self.ends.draw, level))] = np.arange(level.size)
        return rank


def items_of_graph(
    graph: Graph, pruner: Pruner, seed: int, real: Array, counted: Array, kept: Array, runtime: Runtime
) -> ItemsOfGraph:
    """Return the edges `real` as items; the `counted` ones count for their nodes."""
    source, target = (plain(end).astype(np.int64, copy=False)[real] for end in graph.ends())
    of_edge, first, second = np.arange(source.size), source, target
    if (pruner.symmetric or graph.undirected) and not graph.bipartite:
        of_edge = _paired(source, target, kept, graph.num_nodes)
        first_edge = np.zeros(int(of_edge.max(initial=-1)) + 1, np.int64)
        first_edge[of_edge[::-1]] = np.arange(source.size)[::-1]  # the first edge of each pair represents it
        first, second = (
            np.minimum(source[first_edge], target[first_edge]),
            np.maximum(source[first_edge], target[first_edge]),
        )
    draws = np.empty(first.shape, np.uint64)
    bases = node_base(graph.source_ptr), node_base(graph.target_ptr)
    start = draw(seed, EDGE)
    runtime.spread(draws.size, lambda lo, hi: runtime.module.hash_ends(
        start, plain(first), plain(second), *bases, lo, hi, draws))  # fmt: skip
    owner, neighbour = oriented(pruner.side, source, target)
    ends = Items(source, target, first, second, draws)
    return ItemsOfGraph(graph, ends, of_edge, of_edge[counted], owner[counted], neighbour[counted])


def _paired(source: Array, target: Array, kept: Array, nodes: int) -> Array:
    """Return the pair of each edge; of parallel edges, kept ones are paired with kept ones."""
    of_edge, count = np.empty(source.shape, np.int64), 0
    for part in (np.flatnonzero(kept), np.flatnonzero(~kept)):
        pairs = pair_up(source[part], target[part], nodes)
        of_edge[part] = pairs.of_slot + count
        count += pairs.count
    return of_edge


def fitting(item: Array, node: Array, room: Array, rank: Array) -> Array:
    """Mark the items that fit, one after the other by rank, each if all its nodes have room for it.

    Args:
        item, node: `[uses]` which item takes a place at which node, none twice at the same.
        room: `[nodes]` places. rank: `[items]`, distinct.

    >>> fitting(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([1, 1]), np.array([0, 1, 2]))
    array([ True, False,  True])
    """
    inside = np.zeros(rank.shape, bool)
    left = ~_any_use(item, room[node] <= 0, rank.size)
    order = np.lexsort((rank[item[left]], node[left]))
    item, node = item[left][order], node[left][order]
    while (
        item.size
    ):  # items that come early enough at all their nodes fit whatever happens to the rest: many in each round
        late = _any_use(item, _places(node) >= room[node], rank.size)
        inside[item[~late]] = True
        room = room - np.bincount(node[~late], minlength=room.size)
        left = late & ~_any_use(item, room[node] <= 0, rank.size)
        item, node = item[left], node[left]
    return inside


def _any_use(item: Array, marked: Array, items: int) -> Array:
    """Mark every use of an item that has a marked use."""
    marked_items = np.zeros(items, bool)
    marked_items[item[marked]] = True
    return marked_items[item]


def _places(node: Array) -> Array:
    """Count 0, 1, 2 ... within each run of equal nodes; nodes ascend."""
    return np.arange(node.size) - np.searchsorted(node, node)
