"""The edges of a stream that are within a time: the others are left out before anything is counted or learned.

One pass over the times, two if the latest edge of each owner has to be known first, writes a byte for each edge to the
work folder. All later stages then read the allowed edges alone, numbered as if there were no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from lsprune.files import EdgeFiles, Kept
from lsprune.files.columns import row, rows_from
from lsprune.files.edge_files import Batch, Piece, Shard, regroup
from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime, plain
from lsprune.outofcore.grouping import EdgeCounter, EdgeCounts
from lsprune.outofcore.stream_context import StreamContext
from lsprune.time_rules import TimeRule

_COUNTED_EDGES = 1 << 16  # allowed edges are counted for each block of so many
_FIRST_OWNERS = 1 << 16  # that have room among the latest times, if their number is not known
NodeColumns = Mapping[str, tuple[Array | None, Array | None]]  # by name: of the sources and of the targets


class AllowedEdges(EdgeFiles):
    """The allowed edges of some files, numbered as if there were no others. Shards are written from the whole files."""

    def __init__(self, files: EdgeFiles, allowed: Array) -> None:
        self._files, self._allowed = files, allowed  # [edges of the files] bool
        starts = range(0, allowed.shape[0], _COUNTED_EDGES)
        counts = [int(np.count_nonzero(allowed[lo : lo + _COUNTED_EDGES])) for lo in starts]
        self._before = np.append(0, np.cumsum(counts, dtype=np.int64))  # allowed edges before each block
        self.inputs, self.names, self.labels, self.dtype = files.inputs, files.names, files.labels, files.dtype
        self.nodes, self.limits, self.tables = files.nodes, files.limits, files.tables
        self.row_bytes, self.attr_shape, self.attr_dtype = files.row_bytes, files.attr_shape, files.attr_dtype
        self.columns, self.column_names, self.is_text = files.columns, files.column_names, files.is_text
        self.features, self.end_features = files.features, files.end_features

    @property
    def edges(self) -> int:
        """Number of allowed edges."""
        return int(self._before[-1])

    @property
    def shards(self) -> tuple[Shard, ...]:
        """The shards of the files."""
        return self._files.shards

    def batches(self, rows: int, *, attributes: bool = False, columns: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the allowed edges, checked as those of the files."""
        return regroup(self._filtered(rows, attributes, columns), rows)

    def pieces(
        self, rows: int, attributes: bool, spelled: bool = False, columns: Sequence[str] = ()
    ) -> Iterator[Piece]:
        """Yield the allowed edges; their ids are checked already."""
        for batch in self.batches(rows, attributes=attributes, columns=columns):
            ends = (batch.source, batch.target)
            yield Piece(self.inputs[0], batch.first, *ends, batch.edge_attr, row, batch.columns)

    def write_shard(self, shard: Shard, handle: BinaryIO, kept: Kept, rows: int) -> tuple[int, int]:
        """Write the kept ones of the allowed edges as the files do."""

        def among_all(first: int, last: int) -> Array:
            mask = np.array(self._allowed[first:last])
            before, count = self._rank(first), int(np.count_nonzero(mask))
            if count:
                mask[mask] = kept(before, before + count)
            return mask

        return self._files.write_shard(shard, handle, among_all, rows)

    def _filtered(self, rows: int, attributes: bool, columns: Sequence[str]) -> Iterator[Batch]:
        for batch in self._files.batches(rows, attributes=attributes, columns=columns):
            mask = self._allowed[batch.first : batch.first + batch.source.shape[0]]
            attr = None if batch.edge_attr is None else batch.edge_attr[mask]
            named = {name: column[mask] for name, column in batch.columns.items()}
            yield Batch(self._rank(batch.first), batch.source[mask], batch.target[mask], attr, named)

    def _rank(self, position: int) -> int:
        """Return the number of allowed edges before a position in the files."""
        block = position // _COUNTED_EDGES
        return int(self._before[block] + np.count_nonzero(self._allowed[block * _COUNTED_EDGES : position]))


@dataclass(frozen=True, eq=False)
class TimeStage:
    """Find the edges of a stream that a rule allows."""

    edges: EdgeFiles
    rule: TimeRule
    nodes: NodeColumns  # the times of nodes that the rule looks at
    context: StreamContext

    def allowed(self, name: str) -> tuple[AllowedEdges, EdgeCounts]:
        """Return the allowed edges, and the counts of all edges; `name` is that of the stage and of its file."""
        work = self.context.work
        if not work.has(name):
            self.context.say("reading the times of the edges")
            work.finish(name, asdict(self._write(work.append_file(name, np.bool_).add)), name)
        return AllowedEdges(self.edges, work.appended(name, np.bool_)), EdgeCounts(**work.done[name])

    def _write(self, add: Callable[[Array], None]) -> EdgeCounts:
        """Give whether each edge is allowed to `add`, batch by batch; return the counts of all edges."""
        latest = self._latest() if self.rule.by_latest else None
        counter = EdgeCounter(self.context.runtime, skip_loops=False, bipartite=self.context.two_kinds)
        for first, graph in self._parts():
            counter.add(*map(plain, graph.owners_and_neighbours(self.rule.side)))
            add(self.rule.allowed(graph, latest, rows_from(first)))
        return counter.result()

    def _latest(self) -> Array:
        """Return the latest time of each owner, in a file."""
        whole, runtime = self._time_type().kind != "f", self.context.runtime
        latest = np.empty(0, np.int64 if whole else np.float64)
        for first, graph in self._parts():
            owner = graph.owners_and_neighbours(self.rule.side)[0]
            latest = _with_room(latest, int(owner.max(initial=-1)) + 1, self.rule.earliest(whole), runtime)
            self.rule.note_latest(graph, latest, rows_from(first))
        return latest

    def _time_type(self) -> np.dtype[Any]:
        if self.rule.time in self.edges.columns:
            return self.edges.columns[self.rule.time]
        column = oriented(self.rule.side, *self.nodes[self.rule.time])[1]
        return np.dtype(np.int64) if column is None else column.dtype  # None: the first part says what is missing

    def _parts(self) -> Iterator[tuple[int, Graph]]:
        """Yield the position of the first edge, and the edges with their times, batch by batch."""
        columns = tuple(name for name in (self.rule.time,) if name in self.edges.columns)
        for batch in self.edges.batches(self.context.rows, columns=columns):
            yield batch.first, Graph(
                source=batch.source, target=batch.target, num_sources=0, num_targets=0, edge_columns=batch.columns,
                node_columns=self.nodes, column_names=self.edges.column_names,
            )  # fmt: skip


def _with_room(latest: Array, owners: int, earliest: Any, runtime: Runtime) -> Array:
    """Return an array with an entry for so many owners at least."""
    if owners <= latest.shape[0]:
        return latest
    larger = runtime.zeros(max(2 * owners, _FIRST_OWNERS), latest.dtype)
    larger[: latest.shape[0]] = latest
    larger[latest.shape[0] :] = earliest
    return larger
