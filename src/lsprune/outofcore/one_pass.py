"""Prune edges that come sorted by owner in one pass; the only state is the k edges that the current owner holds.

The input is read twice, in step: once to select, and once by the writer, which asks which of its next rows to keep.
Nothing is written to scratch space but the keys of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lsprune.files import EdgeFiles
from lsprune.graph import Array, Graph, Grouped, Owned, oriented
from lsprune.hashing.base import BLOCK_FUNCTIONS, NodeKeys
from lsprune.kernels import Runtime, plain
from lsprune.outofcore.grouping import EdgeCounts
from lsprune.outofcore.partial_selection import EdgeRows, Selector, node_keys
from lsprune.pruners import PerOwner
from lsprune.selection.self_loops import loops_count

MAX_TABLE_FUNCTIONS = 64  # functions whose keys are computed for all nodes beforehand
MAX_CACHED_ROWS = 1 << 16  # edges at a time: few enough that their data stays in the processor's cache
KeysOf = Callable[[Array], Array]  # ids of neighbours `[n]` -> their keys `[n, functions]`


class NotSorted(Exception):
    """The edges are not sorted by owner."""


def suits(pruner: PerOwner, edges: EdgeFiles) -> bool:
    """Return whether sorted edges can be pruned in one pass: the budget is k, and keys do not depend on other edges."""
    needs, k = pruner.needs, pruner.rules.k
    if k is None or k > MAX_TABLE_FUNCTIONS or pruner.symmetric or edges.attr_shape is not None or needs.edge_columns:
        return False
    return needs.scope == "edge" and not needs.degree and (pruner.is_fitted or not needs.fit_edges)


def fitted_to_nodes(pruner: PerOwner, graph: Graph, runtime: Runtime) -> tuple[PerOwner, KeysOf | None] | None:
    """Fit the pruner to the nodes of a graph without edges, and return it with a function from neighbours to keys.

    The function is None if keys depend on the ids of both ends. The result is None if keys depend on more.
    """
    needs = pruner.needs
    if pruner.is_fitted and not (needs.owner or needs.neighbour or needs.edge):
        return pruner, None if needs.owner_id else _keys_of_ids(pruner, runtime)
    if graph.x_source is None and graph.x_target is None:
        return None
    fitted = pruner if pruner.is_fitted else pruner.fit_graph(graph, runtime)
    keys = _key_table(fitted, graph, runtime) if fitted.needs.by_neighbour else None
    return None if keys is None else (fitted, keys)


def _keys_of_ids(pruner: PerOwner, runtime: Runtime) -> KeysOf:
    """Return a function that computes the keys of neighbours from their ids."""
    count = pruner.functions_needed(pruner.rules.k or 0)
    return lambda ids: node_keys(pruner, ids, None, 0, count, count, runtime)


def _key_table(pruner: PerOwner, graph: Graph, runtime: Runtime) -> KeysOf | None:
    """Compute the keys of all nodes, and return a function that looks them up; None if they are not a table."""
    assert graph.grouped is not None
    count, tables = pruner.functions_needed(pruner.rules.k or 0), []
    source = pruner.key_source(graph, graph.grouped.owned, runtime)
    for first in range(0, count, BLOCK_FUNCTIONS):
        keys = source.keys(first, min(BLOCK_FUNCTIONS, count - first), count)
        if not isinstance(keys, NodeKeys):
            return None
        tables.append(keys.table if count <= BLOCK_FUNCTIONS else keys.table.copy())  # the next block may overwrite it
    if not tables:  # k=0: no keys are needed
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
    """Return a graph without edges; each pair is of the sources and of the targets.

    Args:
        sizes: numbers of nodes. x: their attributes. known: masks of the nodes that have attributes; None: all.
    """
    owners = oriented(pruner.side, *sizes)[0]
    no_edges = Owned(np.zeros(owners + 1, np.int64), np.zeros(0, np.int64), None)
    return Graph(
        source=None, target=None, num_sources=sizes[0], num_targets=sizes[1], x_source=x[0], x_target=x[1],
        bipartite=bipartite, known=known,
        grouped=Grouped(no_edges, pruner.rules.side, loops_count(pruner.self_loops, bipartite=bipartite), 0),
    )  # fmt: skip


class OnePass:
    """Select from sorted edges as their mask is asked for: range by range in order, or again from the beginning."""

    def __init__(
        self, edges: EdgeFiles, pruner: PerOwner, keys: KeysOf | None, rows: int, runtime: Runtime, nodes: int = 0,
        *, bipartite: bool = False,
    ) -> None:  # fmt: skip
        self.edges, self.keys, self.rows, self.runtime = edges, keys, min(rows, MAX_CACHED_ROWS), runtime
        self.selector, self.nodes = Selector(pruner, runtime, bipartite), nodes  # 0 nodes: the number is not known
        self._restart()

    def _restart(self) -> None:
        self.selection, self.asked = self._select(), 0  # edges up to `asked` have been asked for
        self.pending: list[Array] = []  # positions of kept edges that have not been asked for yet
        self.read, self.decided = 0, 0  # edges that were read, and those of them whose owner is complete
        self.largest_of_ends, self.balance, self.loops = (-1, -1), 0, 0  # loops: edges with the same id at both ends
        self.last_owner, self.last_start = -1, 0  # the current owner, and the position of its first edge
        self.had_edge, self.has_edge = (self.runtime.zeros(self.nodes, bool) for _ in range(2))

    def kept(self, first: int, last: int) -> Array:
        """Return the mask of the edges first..last."""
        if first < self.asked:
            self._restart()
        while self.decided < last and (positions := next(self.selection, None)) is not None:
            self.pending.append(positions)
        self.asked = last
        pending = np.concatenate([np.zeros(0, np.int64), *self.pending])
        mask = np.zeros(last - first, bool)
        mask[pending[(pending >= first) & (pending < last)] - first] = True
        self.pending = [pending[pending >= last]]
        return mask

    def counted(self) -> EdgeCounts:
        """Return the counts of all edges, when the writer is done."""
        for _ in self.selection:  # edges of files that an earlier run wrote: nobody asked for them
            pass
        undirected = self.balance % 2**64 == 0 and not self.selector.bipartite
        ends, loops_are_edges = self.largest_of_ends, self.selector.loops_count
        slots = self.read - (0 if loops_are_edges else self.loops)
        return EdgeCounts(self.read, slots, max(ends), True, undirected, ends, self.loops > 0)

    @property
    def isolated(self) -> int:
        """Number of nodes that had an edge to another node and have none left."""
        return int((self.had_edge & ~self.has_edge).sum())

    def _select(self) -> Iterator[Array]:
        """Yield positions of kept edges as their owners are completed."""
        for rows, positions, kept in self.selector.merged(self._batches()):
            self._note_nodes(rows, kept)
            self.decided = self.last_start
            yield positions[kept]

    def _batches(self) -> Iterator[EdgeRows]:
        for batch in self.edges.batches(self.rows):
            rows = self._rows(batch.source, batch.target)
            self._note_owner(rows.owner)
            self.read += len(rows)
            yield rows
        self.last_start = self.read

    def _rows(self, source: Array, target: Array) -> EdgeRows:
        pruner, ends = self.selector.pruner, (plain(source), plain(target))
        owner, neighbour = oriented(pruner.side, *ends)
        self.largest_of_ends = (
            max(self.largest_of_ends[0], int(owner.max(initial=-1))),
            max(self.largest_of_ends[1], int(neighbour.max(initial=-1))),
        )
        self.loops += int(np.count_nonzero(owner == neighbour))
        self.balance += int(self.runtime.module.reverse_balance(*ends, 0, owner.shape[0]))
        quota = np.broadcast_to(np.int64(pruner.rules.k or 0), owner.shape)
        keys = None if self.keys is None else self.keys(neighbour)
        return EdgeRows(owner=owner, neighbour=neighbour, quota=quota, keys=keys)

    def _note_owner(self, owner: Array) -> None:
        """Note the owner of the last edge, and the position of its first one; raise NotSorted if ids decrease."""
        if not owner.size:
            return
        if int(owner[0]) < self.last_owner or bool((owner[1:] < owner[:-1]).any()):
            raise NotSorted
        start = int(np.searchsorted(owner, owner[-1]))
        if start or int(owner[-1]) != self.last_owner:
            self.last_owner, self.last_start = int(owner[-1]), self.read + start

    def _note_nodes(self, rows: EdgeRows, kept: Array) -> None:
        """Note which nodes had an edge to another node, and which keep one; not needed between two kinds of nodes."""
        if self.selector.bipartite:
            return
        if max(self.largest_of_ends) >= self.had_edge.shape[0]:
            before, size = (self.had_edge, self.has_edge), 2 * max(self.largest_of_ends) + 2
            self.had_edge, self.has_edge = (self.runtime.zeros(size, bool) for _ in range(2))
            for old, new in zip(before, (self.had_edge, self.has_edge), strict=True):
                new[: old.shape[0]] = old
        to_another = rows.owner != rows.neighbour
        for flags, mask in ((self.had_edge, to_another), (self.has_edge, to_another & kept)):
            flags[rows.owner[mask]] = True
            flags[rows.neighbour[mask]] = True
