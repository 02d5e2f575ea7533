"""Selection from rows that are not a whole graph: batches of edges sorted by owner, as a stream or Spark brings them.

An owner whose edges go on beyond a batch is carried over as the edges it holds so far, at most its quota: two partial
selections merge exactly, so that any cut of the edges into batches keeps the same ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import STEPS, EdgeKeys, NodeKeys
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.pruners import PerOwner, Pruner
from lsprune.selection.choose import KeySource, choose, edge_keys


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Some edges, those of an owner side by side in the caller's order, with what their keys are made of.

    `keys` are those of `node_keys`, in which case the rest may be absent. Rows of one owner with different numbers in
    `share` are selected from separately: partial selections, to be merged by another one.
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

    def __len__(self) -> int:
        return int(self.owner.shape[0])

    def take(self, which: Array) -> Rows:
        """The rows that an index or a mask names."""
        some: dict[str, Any] = {name: None if value is None else value[which] for name, value in vars(self).items()}
        return Rows(**some)

    def then(self, more: Rows) -> Rows:
        """These rows and then more of the same kind."""
        pairs = ((name, value, getattr(more, name)) for name, value in vars(self).items())
        both: dict[str, Any] = {name: None if a is None else np.concatenate([a, b]) for name, a, b in pairs}
        return Rows(**both)


def per_owner(pruner: Pruner) -> PerOwner:
    """Return the pruner; raise OptionError if its keys cannot be made from single edges."""
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
    """Keys `[n, count]` of the functions first+1 .. first+count for some nodes as neighbours, int32 if they fit.

    The pruner's keys must depend on the neighbour alone (`needs.by_neighbour`); they are those of the whole graph.

    Args:
        ids: `[n]` ids in the whole graph. x: their attributes, None where the pruner looks at none.
        total: number of steps in all. degree: in how many edges each is the neighbour, where that is needed.
    """
    if not ids.shape[0]:
        return np.empty((0, count), np.int32)
    rows = Rows(owner=ids, neighbour=ids, quota=ids, x_neighbour=x, degree=degree)
    graph, owned = _part(rows, np.arange(len(rows) + 1), pruner.side)
    source, blocks = pruner.key_source(graph, owned, runtime), [np.empty((len(rows), 0), np.int32)]
    for start in range(first, first + count, STEPS):
        some = min(STEPS, first + count - start)
        found = source.keys(start, some, total)
        blocks.append(found.table[:, :some].copy() if isinstance(found, NodeKeys) else found.of(0, len(rows)))
    return np.concatenate(blocks, axis=1)


@dataclass(frozen=True, eq=False)
class Selector:
    """What a fitted pruner keeps of rows that come in batches."""

    pruner: PerOwner
    runtime: Runtime
    bipartite: bool = False  # owners and neighbours are two kinds of nodes: an edge with equal ids is no self-loop

    def __post_init__(self) -> None:
        fitted_needs(self.pruner)

    def merged(self, batches: Iterable[Rows]) -> Iterator[tuple[Rows, Array, Array]]:
        """(rows, their numbers from the first of all on, which are kept for good), batch by batch.

        Rows that an owner holds come again with the next batch; at the end, what an owner holds is what it keeps.
        """
        seen, carried, numbers = 0, None, np.empty(0, np.int64)
        for batch in batches:
            rows = batch if carried is None else carried.then(batch)
            numbers = np.append(numbers, np.arange(seen, seen + len(batch)))
            seen += len(batch)
            done, still = self.split(rows)
            yield rows, numbers, done
            carried, numbers = rows.take(still), numbers[still]
        if carried is not None:
            yield carried, numbers, np.ones(len(carried), bool)

    def split(self, rows: Rows) -> tuple[Array, Array]:
        """(kept for good, held by an owner that may go on): two masks over the rows, which begin with those held."""
        if not len(rows):
            return np.zeros(0, bool), np.zeros(0, bool)
        loops = (rows.owner == rows.neighbour) & (self.pruner.self_loops != "edge" and not self.bipartite)
        taken = loops & (self.pruner.self_loops == "free")
        some = np.flatnonzero(~loops)
        taken[some] = self._taken(rows if some.shape[0] == len(rows) else rows.take(some))
        goes_on = ~loops
        goes_on[: _starts(rows)[-1]] = False
        return taken & ~goes_on, taken & goes_on

    def _taken(self, rows: Rows) -> Array:
        """Which rows the owners take; every owner is taken to be complete."""
        if not len(rows):
            return np.zeros(0, bool)
        starts = _starts(rows)
        indptr = np.append(starts, len(rows))
        owned = Owned(indptr, rows.neighbour.astype(np.int64, copy=False), None)  # ids, which ties are decided by
        quota, nowhere = rows.quota[starts].astype(np.int64), np.empty(0, np.int64)
        source = self._source(rows, indptr)
        taken = choose(owned, quota, source, nowhere, self.pruner.rules.seed, self.runtime, ranked=False)
        return np.not_equal(taken, 0)

    def _source(self, rows: Rows, indptr: Array) -> KeySource:
        """Where the keys come from: made before for the nodes, or made from what the rows bring."""
        graph, local = _part(rows, indptr, self.pruner.side)
        source, ready = self.pruner.key_source(graph, local, self.runtime), rows.keys
        if ready is not None:

            def given(first: int, count: int, total: int) -> EdgeKeys:
                columns = slice(first, first + count)
                return EdgeKeys(lambda lo, hi: _wide(ready[indptr[lo] : indptr[hi], columns]))

            return dataclasses.replace(source, keys=given, check=lambda: None)

        def made(first: int, count: int, total: int) -> EdgeKeys:
            found = source.keys(first, count, total)
            return EdgeKeys(lambda lo, hi: edge_keys(found, local, lo, hi, count))

        return dataclasses.replace(source, keys=made)


def _wide(keys: Array) -> Array:
    return np.ascontiguousarray(keys, dtype=np.int64)


def _starts(rows: Rows) -> Array:
    """Where the rows of another owner, or of another share of one, begin."""
    new = rows.owner[1:] != rows.owner[:-1]
    if rows.share is not None:
        new |= rows.share[1:] != rows.share[:-1]
    return np.append(0, np.flatnonzero(new) + 1)


def _part(rows: Rows, indptr: Array, side: str) -> tuple[Graph, Owned]:
    """The rows as a part of a graph: a neighbour for each row, an owner for each range of rows."""
    count, owners, first = len(rows), indptr.shape[0] - 1, indptr[:-1]
    other = np.arange(count)
    own = np.repeat(np.arange(owners), np.diff(indptr))
    ids = rows.neighbour.astype(np.int64, copy=False), rows.owner[first].astype(np.int64)
    x_owner = None if rows.x_owner is None else rows.x_owner[first]
    ends, sizes, x = (other, own), (count, owners), (rows.x_neighbour, x_owner)
    if side == "out":
        ends, sizes, x, ids = ends[::-1], sizes[::-1], x[::-1], ids[::-1]
    graph = Graph(
        source=ends[0], target=ends[1], num_sources=sizes[0], num_targets=sizes[1], x_source=x[0], x_target=x[1],
        edge_attr=rows.edge_attr, bipartite=True, ids=ids,
    )  # fmt: skip
    return graph, Owned(indptr, other, None, rows.degree)
