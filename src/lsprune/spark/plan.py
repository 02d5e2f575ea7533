"""The plan of a selection in Spark: what edges are joined with, and which task selects from which edges."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from lsprune.graph import oriented
from lsprune.pruners import PerOwner
from lsprune.selection.self_loops import loops_count
from lsprune.spark.budget import Budget, find_budget
from lsprune.spark.carried_weights import carried_columns, carry
from lsprune.spark.checked_table import CheckedTable, NodeTables
from lsprune.spark.columns import column
from lsprune.spark.edge_ends import EdgeEnds
from lsprune.spark.packed_rows import PackedAttributes
from lsprune.spark.tasks import (
    DEGREE_COLUMN,
    ID_COLUMN,
    NEIGHBOUR_COLUMN,
    OWNER_COLUMN,
    OWNER_DEGREE_COLUMN,
    SHARE_COLUMN,
    Describe,
    Select,
)
from lsprune.weights.comparison import Comparison

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EDGES_PER_TASK = 1 << 21
MAX_BROADCAST_BYTES = 1 << 26  # of keys or attributes; more are shuffled
MAX_JOINED_FUNCTIONS = 64  # whose keys are joined to the edges; beyond that the attributes are, if they are narrower
HUB_SAMPLE_EDGES = 64  # one edge in so many is counted to find hubs


@dataclass(frozen=True, eq=False)
class Plan:
    """Checked tables and a fitted pruner."""

    edges: CheckedTable
    nodes: NodeTables
    pruner: PerOwner
    position: str | None  # the column that numbers the edges
    bipartite: bool = False
    comparisons: tuple[Comparison, ...] = ()  # what the edges carry logarithms of

    @property
    def owner(self) -> str:
        """The column with the end that owns an edge."""
        return oriented(self.pruner.side, *self.edges.id_columns)[0]

    @property
    def neighbour(self) -> str:
        """The column with the other end."""
        return oriented(self.pruner.side, *self.edges.id_columns)[1]

    def pruned(self, partitions: int | None, broadcast: bool | None, hub: int) -> DataFrame:
        """Return the kept edges; arguments as for `prune_spark`."""
        owner, loops = column(self.owner), self.pruner.self_loops
        is_loop = F.lit(False) if self.bipartite else owner == column(self.neighbour)
        frame = self.edges.frame.where(~is_loop) if loops == "drop" else self.edges.frame
        candidates = frame if loops == "edge" else frame.where(~is_loop)
        degrees = _count_edges(candidates, self.owner)
        if self.pruner.rules.k is None:
            # Read several times; adaptive execution leaves the many small partitions of what is cached as they are.
            degrees = degrees.coalesce(partitions or self._default_partitions()).persist()
        try:
            budget, largest_degree = find_budget(self.pruner.rules, degrees)
            if largest_degree is not None and budget.level >= largest_degree:
                return frame  # every owner keeps all its edges
            if budget.largest == 0:
                return frame.where(is_loop) if loops == "free" else frame.limit(0)
            hubs = self._hubs(candidates, None if largest_degree is None else degrees, hub)
        finally:
            degrees.unpersist()
        tasks = partitions or self._default_partitions()
        nodes = oriented(self.pruner.side, *self.nodes)[1]
        ends = EdgeEnds(frame, candidates, self.owner, self.neighbour, nodes, tasks, broadcast)
        carried = carry(ends, self.comparisons)
        task, joined = self._join_nodes(frame, carried, budget, broadcast)
        if budget.by_degree:
            joined = self._join_degrees(joined, degrees)
        return self._select(task, joined, tasks, hubs, hub)

    def _default_partitions(self) -> int:
        parallel = self.edges.frame.sparkSession.sparkContext.defaultParallelism
        return max(parallel, math.ceil(self.edges.facts.count / EDGES_PER_TASK))

    def _hubs(self, candidates: DataFrame, degrees: DataFrame | None, hub: int) -> list[int]:
        """Return the owners with more than about `hub` edges. The kept edges do not depend on this choice."""
        if self.edges.facts.count <= hub:
            return []
        if degrees is None:
            fraction = 1 / HUB_SAMPLE_EDGES if hub >= 100 * HUB_SAMPLE_EDGES else 1.0
            degrees = _count_edges(candidates.sample(fraction=fraction, seed=0), self.owner)
            hub = int(hub * fraction)
        hubs = degrees.where(F.col("degree") > hub).toArrow()
        return [int(owner) for owner in hubs.column("owner").to_pylist()]

    def _select(self, task: Select, joined: DataFrame, partitions: int, hubs: list[int], hub: int) -> DataFrame:
        """Select by tasks that have all edges of an owner; of a hub, several tasks first select from a share each."""
        owner = column(self.owner)
        order = [] if self.position is None else [column(self.position)]
        if hubs:
            share = F.pmod(F.xxhash64(*self._share_columns()), F.lit(math.ceil(self.edges.facts.count / hub)))
            shared = joined.where(owner.isin(hubs)).withColumn(SHARE_COLUMN, share)
            shared = shared.repartition(partitions, owner, F.col(SHARE_COLUMN))
            shared = shared.sortWithinPartitions(owner, F.col(SHARE_COLUMN), *order)
            first = replace(task, out=tuple(joined.columns), share=True)
            joined = joined.where(~owner.isin(hubs)).unionByName(shared.mapInArrow(first.run, joined.schema))
        # The number of partitions is explicit: Spark's adaptive execution does not change such a shuffle.
        by_owner = joined.repartition(partitions, owner).sortWithinPartitions(owner, *order)
        return by_owner.mapInArrow(task.run, self.edges.frame.schema)

    def _share_columns(self) -> list[Column]:
        """Return the columns that decide the share of an edge of a hub: it is the same when a task runs again."""
        attributes = self.edges.facts.attributes
        names = (*self.edges.id_columns, *(() if attributes is None else attributes.columns))
        return [column(name) for name in dict.fromkeys((*names, *((self.position,) if self.position else ())))]

    def _join_nodes(
        self, edges: DataFrame, carried: DataFrame, budget: Budget, broadcast: bool | None
    ) -> tuple[Select, DataFrame]:
        """Return the selecting task, and the edges, with what they carry, joined with what it needs of their ends."""
        pruner, needs, frame = self.pruner, self.pruner.needs, carried
        owners, neighbours = oriented(pruner.side, *self.nodes)
        owner_width, neighbour_width = (0 if table is None else table.width for table in (owners, neighbours))
        x_owner = _packed(owners) if needs.owner else None
        x_neighbour = _packed(neighbours) if needs.neighbour else None
        steps = pruner.functions_needed(budget.largest)
        joins_neighbours = needs.neighbour or needs.degree
        if not (needs.by_neighbour and joins_neighbours and steps <= max(neighbour_width, MAX_JOINED_FUNCTIONS)):
            steps = 0  # keys are computed by the selecting task
        if joins_neighbours:
            describe = Describe(pruner, x_neighbour, needs.degree, steps)
            rows = self._node_rows(edges, neighbours, needs.neighbour, needs.degree)
            row_bytes = 4 * steps if steps else 4 * neighbour_width + 8
            described = rows.mapInArrow(describe.run, describe.schema)
            frame = self._join(frame, described, neighbours, self.neighbour, broadcast, row_bytes)
        if needs.owner:
            describe = Describe(pruner, x_owner, False, 0)
            rows = self._node_rows(edges, owners, True, False)
            described = rows.mapInArrow(describe.run, describe.schema).withColumnRenamed(NEIGHBOUR_COLUMN, OWNER_COLUMN)
            frame = self._join(frame, described, owners, self.owner, broadcast, 4 * owner_width)
        select = Select(
            pruner, budget, self.owner, self.neighbour, tuple(self.edges.frame.columns), steps=steps, x_owner=x_owner,
            x_neighbour=None if steps else x_neighbour, edge_attr=self.edges.facts.attributes if needs.edge else None,
            degree=needs.degree and not steps, bipartite=self.bipartite,
            carried=carried_columns(len(self.comparisons)), columns=needs.edge_columns,
        )  # fmt: skip
        return select, frame

    def _node_rows(self, frame: DataFrame, nodes: CheckedTable | None, attributes: bool, degree: bool) -> DataFrame:
        """Return a row for each node: its id, its attributes or its degree or both.

        Without attributes the rows are those of the neighbours in `frame`. A node that is only its own neighbour is
        one of them, with degree 0 if self-loops do not count: a free self-loop must find a row to be joined with.
        """
        degrees = self._degrees(frame)
        if not attributes:
            return degrees
        assert nodes is not None and nodes.facts.attributes is not None
        ids = column(nodes.id_columns[0]).cast("long").alias(ID_COLUMN)
        rows = nodes.frame.select(ids, *map(column, nodes.facts.attributes.columns))
        return rows.join(degrees, ID_COLUMN, "left").fillna(0, [DEGREE_COLUMN]) if degree else rows

    def _degrees(self, frame: DataFrame) -> DataFrame:
        """Return (id, degree) of every neighbour in `frame`; self-loops count if they are edges like any other."""
        counted = loops_count(self.pruner.self_loops, bipartite=self.bipartite)
        counts = F.lit(True) if counted else column(self.owner) != column(self.neighbour)
        ids = column(self.neighbour).cast("long").alias(ID_COLUMN)
        return frame.groupBy(ids).agg(F.count_if(counts).alias(DEGREE_COLUMN))

    def _join_degrees(self, frame: DataFrame, degrees: DataFrame) -> DataFrame:
        """Return the edges with the degree of their owner; that of an owner of uncounted self-loops alone is 0."""
        named = degrees.select(F.col("owner").alias(ID_COLUMN), F.col("degree").alias(OWNER_DEGREE_COLUMN))
        joined = frame.join(named, column(self.owner) == F.col(ID_COLUMN), "left").drop(ID_COLUMN)
        return joined.fillna(0, [OWNER_DEGREE_COLUMN])

    def _join(
        self, frame: DataFrame, described: DataFrame, nodes: CheckedTable | None, end: str, broadcast: bool | None,
        row_bytes: int,
    ) -> DataFrame:  # fmt: skip
        """Return the edges joined with the description of the nodes at one of their ends."""
        count = self.edges.facts.largest_id + 1 if nodes is None else nodes.facts.count
        is_small = count * (row_bytes + 16) <= MAX_BROADCAST_BYTES if broadcast is None else broadcast
        described = described.hint("broadcast" if is_small else "merge")
        return frame.join(described, column(end) == F.col(ID_COLUMN), "inner").drop(ID_COLUMN)


def _packed(nodes: CheckedTable | None) -> PackedAttributes | None:
    """Return how the attributes of nodes are packed; None without attributes."""
    if nodes is None or nodes.facts.attributes is None:
        return None
    return PackedAttributes(nodes.facts.attributes, is_category=nodes.facts.integer_range is not None)


def _count_edges(edges: DataFrame, end: str) -> DataFrame:
    """Return (owner, degree): how many edges have each node at this end."""
    return edges.groupBy(column(end).cast("long").alias("owner")).agg(F.count(F.lit(1)).alias("degree"))
