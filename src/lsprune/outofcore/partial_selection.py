"""Select from edges that come in batches sorted by owner, as a stream or Spark brings them.

An owner whose edges continue in the next batch is represented by the edges that it holds so far, at most its quota. Two
partial selections merge exactly, so the result does not depend on how the edges are cut into batches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned, oriented
from lsprune.hashing.base import BLOCK_FUNCTIONS, EdgeKeys, NodeKeys
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners import PerOwner, Pruner
from lsprune.selection.choose import KeySource, choose, edge_keys
from lsprune.selection.self_loops import loops_count, uncounted_loops_stay


@dataclass(frozen=True, eq=False, kw_only=True)
class EdgeRows:
    """A batch of edges, those of an owner side by side in the caller's order, with what their keys are computed from.

    With `keys`, which are those of `node_keys`, the attributes may be absent. Rows of one owner with different numbers
    in `share` are selected from separately: partial selections, to be merged by another one.
    """

    owner: Array  # [n] ids
    neighbour: Array  # [n] ids
    quota: Array  # [n] the most edges that the owner of each row keeps
    share: Array | None = None  # [n]
    keys: Array | None = None  # [n, steps]
    x_owner: Any = None  # [n, ...]
    x_neighbour: Any = None  # [n, ...]
    edge_attr: Any = None  # [n, ...]
    degree: Array | None = None  # [n] of the neighbour
    carried: Array | None = None  # [n, ...] logarithms of weights; see `lsprune.weights.carried`
    columns: Mapping[str, Array] | None = None  # [n] each, that the pruner asks for by name

    def __len__(self) -> int:
        return int(self.owner.shape[0])

    def take(self, index: Array) -> EdgeRows:
        """Return the rows of an index or a mask."""
        fields: dict[str, Any] = {
            name: None if value is None else value[index] for name, value in self._arrays().items()
        }
        columns = None if self.columns is None else {name: values[index] for name, values in self.columns.items()}
        return EdgeRows(**fields, columns=columns)

    def _arrays(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "columns"}

    def then(self, other: EdgeRows) -> EdgeRows:
        """Return these rows, followed by those of `other`, which has the same fields."""
        pairs = ((name, value, getattr(other, name)) for name, value in self._arrays().items())
        fields: dict[str, Any] = {name: None if a is None else np.concatenate([a, b]) for name, a, b in pairs}
        columns = None
        if self.columns is not None and other.columns is not None:
            columns = {name: np.concatenate([a, other.columns[name]]) for name, a in self.columns.items()}
        return EdgeRows(**fields, columns=columns)


def per_owner(pruner: Pruner) -> PerOwner:
    """Return the pruner; raise OptionError if its keys cannot be computed from single edges."""
    if pruner.needs.scope != "edge" or not isinstance(pruner, PerOwner):
        raise OptionError(f"{pruner.needs.reason}; use another one here, or prune in memory")
    if pruner.symmetric:
        raise OptionError("symmetric must be None here: an edge and its reverse have different owners")
    return pruner


def fitted_needs(pruner: Pruner) -> Needs:
    """Return the needs of a fitted pruner; raise OptionError as `per_owner`, or if it is not fitted."""
    per_owner(pruner)
    if not pruner.is_fitted:
        raise OptionError(f"{pruner!r} must be fitted first: call fit on a graph that has the same kind of attributes")
    return pruner.needs


def node_keys(
    pruner: PerOwner, ids: Array, x: Any, first: int, count: int, total: int, runtime: Runtime, *,
    degree: Array | None = None,
) -> Array:  # fmt: skip
    """Return the keys `[n, count]` of the functions first+1 .. first+count for nodes as neighbours, int32 if they fit.

    The pruner's keys must depend on the neighbour alone (`needs.by_neighbour`); they are those of the whole graph.

    Args:
        ids: `[n]` ids in the whole graph. x: their attributes; None if the pruner needs none.
        total: number of steps in all. degree: in how many edges each is the neighbour, if the pruner needs it.
    """
    if not ids.shape[0]:
        return np.empty((0, count), np.int32)
    rows = EdgeRows(owner=ids, neighbour=ids, quota=ids, x_neighbour=x, degree=degree)
    graph, owned = _partial_graph(rows, np.arange(len(rows) + 1), pruner.side)
    source, blocks = pruner.key_source(graph, owned, runtime), [np.empty((len(rows), 0), np.int32)]
    for start in range(first, first + count, BLOCK_FUNCTIONS):
        steps = min(BLOCK_FUNCTIONS, first + count - start)
        keys = source.keys(start, steps, total)
        blocks.append(keys.table[:, :steps].copy() if isinstance(keys, NodeKeys) else keys.of(0, len(rows)))
    return np.concatenate(blocks, axis=1)


@dataclass(frozen=True, eq=False)
class Selector:
    """Select with a fitted pruner from rows that come in batches."""

    pruner: PerOwner
    runtime: Runtime
    bipartite: bool = False  # owners and neighbours are two kinds of nodes: an edge with equal ids is no self-loop

    def __post_init__(self) -> None:
        fitted_needs(self.pruner)

    @property
    def loops_count(self) -> bool:
        """Whether self-loops take part in the selection."""
        return loops_count(self.pruner.self_loops, bipartite=self.bipartite)

    def merged(self, batches: Iterable[EdgeRows]) -> Iterator[tuple[EdgeRows, Array, Array]]:
        """Yield (rows, their positions in the whole input, which are kept for certain), batch by batch.

        Rows that an owner holds come again with the next batch. After the last batch, an owner keeps what it holds.
        """
        seen, carried, positions = 0, None, np.empty(0, np.int64)
        for batch in batches:
            rows = batch if carried is None else carried.then(batch)
            positions = np.append(positions, np.arange(seen, seen + len(batch)))
            seen += len(batch)
            kept, held = self.split(rows)
            yield rows, positions, kept
            carried, positions = rows.take(held), positions[held]
        if carried is not None:
            yield carried, positions, np.ones(len(carried), bool)

    def split(self, rows: EdgeRows) -> tuple[Array, Array]:
        """Return two masks over the rows: kept for certain, and held by the last owner, which may have more rows.

        Rows that were held before come first.
        """
        if not len(rows):
            return np.zeros(0, bool), np.zeros(0, bool)
        loops = (rows.owner == rows.neighbour) & (not self.loops_count)
        taken = loops & uncounted_loops_stay(self.pruner.self_loops)
        candidates = np.flatnonzero(~loops)
        taken[candidates] = self._taken(rows if candidates.shape[0] == len(rows) else rows.take(candidates))
        may_continue = ~loops
        may_continue[: _starts(rows)[-1]] = False
        return taken & ~may_continue, taken & may_continue

    def _taken(self, rows: EdgeRows) -> Array:
        """Return the mask of the rows that the owners take if these are all their rows."""
        if not len(rows):
            return np.zeros(0, bool)
        starts = _starts(rows)
        indptr = np.append(starts, len(rows))
        owned = Owned(indptr, rows.neighbour.astype(np.int64, copy=False), None)  # ids, which decide ties
        quota, no_base = rows.quota[starts].astype(np.int64), np.empty(0, np.int64)
        source = self._source(rows, indptr)
        taken = choose(owned, quota, source, no_base, self.pruner.rules.seed, self.runtime, ranked=False)
        return np.not_equal(taken, 0)

    def _source(self, rows: EdgeRows, indptr: Array) -> KeySource:
        """Return the source of keys: the `keys` of the rows if there are any, else keys computed from their fields."""
        graph, local = _partial_graph(rows, indptr, self.pruner.side)
        source, ready = self.pruner.key_source(graph, local, self.runtime), rows.keys
        if ready is not None:

            def ready_keys(first: int, count: int, total: int) -> EdgeKeys:
                columns = slice(first, first + count)
                return EdgeKeys(
                    lambda lo, hi: np.ascontiguousarray(ready[indptr[lo] : indptr[hi], columns], dtype=np.int64)
                )

            return dataclasses.replace(source, keys=ready_keys, check=lambda: None)

        def computed_keys(first: int, count: int, total: int) -> EdgeKeys:
            keys = source.keys(first, count, total)
            return EdgeKeys(lambda lo, hi: edge_keys(keys, local, lo, hi, count))

        return dataclasses.replace(source, keys=computed_keys)


def _starts(rows: EdgeRows) -> Array:
    """Return where the rows of another owner, or of another share of one, begin."""
    new = rows.owner[1:] != rows.owner[:-1]
    if rows.share is not None:
        new |= rows.share[1:] != rows.share[:-1]
    return np.append(0, np.flatnonzero(new) + 1)


def _partial_graph(rows: EdgeRows, indptr: Array, side: str) -> tuple[Graph, Owned]:
    """Return the rows as a part of a graph: one neighbour for each row, one owner for each range of rows."""
    count, owners, first = len(rows), indptr.shape[0] - 1, indptr[:-1]
    neighbour = np.arange(count)
    owner = np.repeat(np.arange(owners), np.diff(indptr))
    ids = oriented(side, rows.owner[first].astype(np.int64), rows.neighbour.astype(np.int64, copy=False))
    x = oriented(side, None if rows.x_owner is None else rows.x_owner[first], rows.x_neighbour)
    ends, sizes = oriented(side, owner, neighbour), oriented(side, owners, count)
    graph = Graph(
        source=ends[0], target=ends[1], num_sources=sizes[0], num_targets=sizes[1], x_source=x[0], x_target=x[1],
        edge_attr=rows.edge_attr, edge_columns=rows.columns, bipartite=True, ids=ids,
    )  # fmt: skip
    return graph, Owned(indptr, neighbour, None, rows.degree, rows.carried)
