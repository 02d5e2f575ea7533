"""The tasks that Spark runs on its workers: compute keys of nodes, and select from rows that are sorted by owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lsprune.kernels import Runtime
from lsprune.outofcore.partial_selection import EdgeRows, Selector, node_keys
from lsprune.pruners import PerOwner
from lsprune.spark.budget import Budget
from lsprune.spark.columns import AttributeColumns, to_numbers, to_numpy
from lsprune.spark.packed_rows import PackedAttributes, pack_rows, unpack_keys
from lsprune.spark.totals import gather_batches

NODE_ROWS, EDGE_ROWS = 1 << 14, 1 << 17  # rows that a task works on at a time
# Columns that are added to the tables; those of neighbour and owner hold packed keys or attributes.
ID_COLUMN, DEGREE_COLUMN, SHARE_COLUMN = "_lsprune_id", "_lsprune_degree", "_lsprune_share"
NEIGHBOUR_COLUMN, OWNER_COLUMN = "_lsprune_neighbour", "_lsprune_owner"
OWNER_DEGREE_COLUMN = "_lsprune_owner_degree"  # which its quota follows from


@dataclass(frozen=True)
class Describe:
    """What edges need to know of a node at one of their ends, by its id: its keys, or its attributes and degree."""

    pruner: PerOwner
    attributes: PackedAttributes | None
    degree: bool
    steps: int  # of the keys; 0: attributes and degree instead of keys

    @property
    def schema(self) -> str:
        """The columns that come out."""
        packed = f", {NEIGHBOUR_COLUMN} binary" if self.steps or self.attributes else ""
        return f"{ID_COLUMN} long{packed}" + f", {DEGREE_COLUMN} long" * (self.degree and not self.steps)

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a row for each node."""
        for table in gather_batches(batches, NODE_ROWS):
            ids = to_numpy(table.column(ID_COLUMN)).astype(np.int64)
            columns = {ID_COLUMN: pa.array(ids)}
            degree = to_numpy(table.column(DEGREE_COLUMN)).astype(np.int64) if self.degree else None
            if self.steps:
                x = None if self.attributes is None else self.attributes.attributes.read(table)
                keys = node_keys(self.pruner, ids, x, 0, self.steps, self.steps, Runtime(), degree=degree)
                columns[NEIGHBOUR_COLUMN] = pack_rows(keys)
            else:
                columns |= {} if self.attributes is None else {NEIGHBOUR_COLUMN: self.attributes.pack(table)}
                columns |= {} if degree is None else {DEGREE_COLUMN: pa.array(degree)}
            yield pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class Select:
    """Select from edges that are sorted by owner. All edges of an owner are in one task, often in several batches."""

    pruner: PerOwner
    budget: Budget
    owner: str  # column
    neighbour: str  # column
    out: tuple[str, ...]  # columns that come out
    steps: int = 0  # of the keys that come with the edges; 0: keys are computed here
    x_owner: PackedAttributes | None = None
    x_neighbour: PackedAttributes | None = None
    edge_attr: AttributeColumns | None = None
    degree: bool = False
    carried: tuple[str, ...] = ()  # columns with logarithms of weights
    columns: tuple[str, ...] = ()  # that the pruner asks for by name
    share: bool = False  # owners are hubs, whose edges several tasks share
    rows: int = EDGE_ROWS  # at a time
    bipartite: bool = False

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the kept rows."""
        selector, held = Selector(self.pruner, Runtime(), self.bipartite), None
        for batch in gather_batches(batches, self.rows):
            table = batch if held is None or not held.num_rows else pa.concat_tables([held, batch])
            kept, still_held = selector.split(self._edge_rows(table))
            held = table.filter(pa.array(still_held))
            yield from table.select(self.out).filter(pa.array(kept)).combine_chunks().to_batches()
        if held is not None:  # after the last row, an owner keeps what it holds
            yield from held.select(self.out).combine_chunks().to_batches()

    def _edge_rows(self, table: pa.Table) -> EdgeRows:
        owner, neighbour = (to_numpy(table.column(name)).astype(np.int64) for name in (self.owner, self.neighbour))
        degree = to_numpy(table.column(OWNER_DEGREE_COLUMN)).astype(np.int64) if self.budget.by_degree else None
        quota = self.budget.of(owner, degree)
        fields: dict[str, Any] = {"owner": owner, "neighbour": neighbour, "quota": quota}
        if self.share:
            fields["share"] = to_numpy(table.column(SHARE_COLUMN))
        if self.steps:
            return EdgeRows(**fields, keys=unpack_keys(table.column(NEIGHBOUR_COLUMN), self.steps))
        if self.x_owner is not None:
            fields["x_owner"] = self.x_owner.unpack(table.column(OWNER_COLUMN))
        if self.x_neighbour is not None:
            fields["x_neighbour"] = self.x_neighbour.unpack(table.column(NEIGHBOUR_COLUMN))
        if self.edge_attr is not None:
            fields["edge_attr"] = self.edge_attr.read(table)
        if self.degree:
            fields["degree"] = to_numpy(table.column(DEGREE_COLUMN))
        if self.carried:
            fields["carried"] = np.stack([to_numpy(table.column(name)) for name in self.carried], axis=1)
        if self.columns:
            fields["columns"] = {name: to_numbers(table.column(name)) for name in self.columns}
        return EdgeRows(**fields)
