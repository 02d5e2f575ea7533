"""Edges that come sorted by owner: one pass, and no state but the k edges that the owner at hand holds.

The input is read by two that go side by side: one that chooses, and the writer, which asks what to keep of the next
rows. Nothing is put on disk but the keys of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lsprune.files import EdgeFiles
from lsprune.graph import Array, Graph, Grouped, Owned, oriented
from lsprune.hashing.base import STEPS, NodeKeys
from lsprune.kernels import Runtime, plain
from lsprune.outofcore.grouping import Counted
from lsprune.outofcore.partial_selection import Rows, Selector, node_keys
from lsprune.pruners import PerOwner

MAX_STEPS = 64  # functions whose keys are made for all nodes at once
ROWS = 1 << 16  # edges at a time: what they need stays in the cache
KeysOf = Callable[[Array], Array]


class NotSorted(Exception):
    """The edges are not sorted by owner."""


def suits(pruner: PerOwner, edges: EdgeFiles) -> bool:
    """Say whether sorted edges can be pruned in one pass: k is given, and keys need no other edges."""
    needs, k = pruner.needs, pruner.rules.k
    if k is None or k > MAX_STEPS or pruner.symmetric or edges.attr_shape is not None:
        return False
    return needs.scope == "edge" and not needs.degree and (pruner.is_fitted or not needs.fit_edges)


def fitted_to_nodes(pruner: PerOwner, graph: Graph, runtime: Runtime) -> tuple[PerOwner, KeysOf | None] | None:
    """Fit the pruner to the nodes of a graph without edges, and return it with a function from neighbours to keys.

    The function is None if keys are made from the ids of both ends. The result is None if keys depend on more.
    """
    needs = pruner.needs
    if pruner.is_fitted and not (needs.owner or needs.neighbour or needs.edge):
        return pruner, None if needs.owner_id else _keys_of_ids(pruner, runtime)
    if graph.x_source is None and graph.x_target is None:
        return None
    ready = pruner if pruner.is_fitted else pruner.fit_graph(graph, runtime)
    keys = _key_table(ready, graph, runtime) if ready.needs.by_neighbour else None
    return None if keys is None else (ready, keys)


def _keys_of_ids(pruner: PerOwner, runtime: Runtime) -> KeysOf:
    """Return a function that makes the keys of some neighbours from their ids."""
    count = pruner.functions_needed(pruner.rules.k or 0)
    return lambda ids: node_keys(pruner, ids, None, 0, count, count, runtime)


def _key_table(pruner: PerOwner, graph: Graph, runtime: Runtime) -> KeysOf | None:
    """Make the keys of all nodes, and return a function that looks them up; None if they are not a table."""
    assert graph.grouped is not None
    count, tables = pruner.functions_needed(pruner.rules.k or 0), []
    source = pruner.key_source(graph, graph.grouped.owned, runtime)
    for first in range(0, count, STEPS):
        keys = source.keys(first, min(STEPS, count - first), count)
        if not isinstance(keys, NodeKeys):
            return None
        tables.append(keys.table if count <= STEPS else keys.table.copy())  # the next block may overwrite it
    if not tables:  # k=0: nobody asks for a key
        return lambda ids: np.zeros((ids.shape[0], 0), np.int64)
    return lambda ids: np.concatenate([table.take(ids, axis=0) for table in tables], axis=1)[:, :count]


def nodes_only(
    pruner: PerOwner,
    sizes: tuple[int, int],
    x: tuple[Any, Any],
    known: tuple[Array | None, Array | None] = (None, None),
    *,
    bipartite: bool = False,
) -> Graph:
    """The nodes of a graph without its edges: numbers, attributes and who has them, each of sources and of targets."""
    owners = oriented(pruner.side, *sizes)[0]
    nothing = Owned(np.zeros(owners + 1, np.int64), np.zeros(0, np.int64), None)
    return Graph(
        source=None, target=None, num_sources=sizes[0], num_targets=sizes[1], x_source=x[0], x_target=x[1],
        bipartite=bipartite, known=known,
        grouped=Grouped(nothing, pruner.rules.side, pruner.self_loops == "edge" or bipartite, 0),
    )  # fmt: skip


class OnePass:
    """What is kept of sorted edges; ask for the rows in order, or for all of them again."""

    def __init__(
        self, edges: EdgeFiles, pruner: PerOwner, keys: KeysOf | None, rows: int, runtime: Runtime, nodes: int = 0,
        *, bipartite: bool = False,
    ) -> None:  # fmt: skip
        self.edges, self.keys, self.rows, self.runtime = edges, keys, min(rows, ROWS), runtime
        self.selector, self.nodes = Selector(pruner, runtime, bipartite), nodes  # 0: as many as turn up
        self._begin()

    def _begin(self) -> None:
        self.chosen, self.at = self._choose(), 0
        self.waiting: list[Array] = []  # positions of kept edges that were not asked for yet
        self.seen, self.decided, self.ends, self.balance, self.loops = 0, 0, (-1, -1), 0, False
        self.last, self.opened = -1, 0  # the owner at hand, and where its edges begin
        self.had, self.has = (self.runtime.zeros(self.nodes, bool) for _ in range(2))

    def kept(self, first: int, last: int) -> Array:
        """The mask of the edges first..last."""
        if first < self.at:
            self._begin()
        while self.decided < last and (found := next(self.chosen, None)) is not None:
            self.waiting.append(found)
        self.at = last
        there = np.concatenate([np.zeros(0, np.int64), *self.waiting])
        mask = np.zeros(last - first, bool)
        mask[there[(there >= first) & (there < last)] - first] = True
        self.waiting = [there[there >= last]]
        return mask

    def counted(self) -> Counted:
        """What was seen, when all edges were asked for."""
        for _ in self.chosen:  # what nobody asked for: files that an earlier run wrote
            pass
        undirected = self.balance % 2**64 == 0 and not self.selector.bipartite
        return Counted(self.seen, self.seen, max(self.ends), True, undirected, self.ends, self.loops)

    @property
    def isolated(self) -> int:
        """Nodes that had an edge to another node and have none left."""
        return int((self.had & ~self.has).sum())

    def _choose(self) -> Iterator[Array]:
        """Positions of kept edges as owners come to an end."""
        for rows, positions, done in self.selector.merged(self._batches()):
            self._touch(rows, done)
            self.decided = self.opened
            yield positions[done]

    def _batches(self) -> Iterator[Rows]:
        for batch in self.edges.batches(self.rows):
            rows = self._rows(batch.source, batch.target)
            self._follow(rows.owner)
            self.seen += len(rows)
            yield rows
        self.opened = self.seen

    def _rows(self, source: Array, target: Array) -> Rows:
        pruner, ends = self.selector.pruner, (plain(source), plain(target))
        owner, neighbour = oriented(pruner.side, *ends)
        largest_owner, largest_neighbour = (int(end.max(initial=-1)) for end in (owner, neighbour))
        self.ends = max(self.ends[0], largest_owner), max(self.ends[1], largest_neighbour)
        self.loops = self.loops or bool((owner == neighbour).any())
        self.balance += int(self.runtime.module.reverse_balance(*ends, 0, owner.shape[0]))
        quota = np.broadcast_to(np.int64(pruner.rules.k or 0), owner.shape)
        return Rows(
            owner=owner, neighbour=neighbour, quota=quota, keys=None if self.keys is None else self.keys(neighbour)
        )

    def _follow(self, owner: Array) -> None:
        """Note who owns the last edge, and the position of its first one; NotSorted where owners go back."""
        if not owner.size:
            return
        if int(owner[0]) < self.last or bool((owner[1:] < owner[:-1]).any()):
            raise NotSorted
        begins = int(np.searchsorted(owner, owner[-1]))
        if begins or int(owner[-1]) != self.last:
            self.last, self.opened = int(owner[-1]), self.seen + begins

    def _touch(self, rows: Rows, kept: Array) -> None:
        """Note who had an edge to another node, and who keeps one; between two kinds of nodes nobody asks."""
        if self.selector.bipartite:
            return
        if max(self.ends) >= self.had.shape[0]:
            before, size = (self.had, self.has), 2 * max(self.ends) + 2
            self.had, self.has = (self.runtime.zeros(size, bool) for _ in range(2))
            for old, new in zip(before, (self.had, self.has), strict=True):
                new[: old.shape[0]] = old
        for flags, some in (
            (self.had, rows.owner != rows.neighbour),
            (self.has, (rows.owner != rows.neighbour) & kept),
        ):
            flags[rows.owner[some]] = True
            flags[rows.neighbour[some]] = True
