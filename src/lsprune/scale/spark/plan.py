"""From tables to the selection: what is checked first, what the edges are joined with, and who selects from which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from lsprune.baselines import First
from lsprune.errors import GraphError, OptionError
from lsprune.pruners import LSP, Local, Pruner
from lsprune.scale.blocks import Needs, check, is_fitted, needs
from lsprune.scale.spark.budget import Budget, budget
from lsprune.scale.spark.fitting import Items, check_alike, fitted
from lsprune.scale.spark.folds import top
from lsprune.scale.spark.frames import check_ids, column, look, values_of
from lsprune.scale.spark.tasks import DEGREE, ID, OF_NEIGHBOUR, OF_OWNER, SHARE, Describe, Packed, Select

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EDGES_A_TASK = 1 << 21
SMALL = 1 << 26  # bytes of keys or attributes that are sent to every executor instead of being shuffled
MOST_KEYS = 64  # functions whose keys travel; beyond that the attributes do, where they are narrower
SEEN = 64  # one edge in so many is looked at to find hubs


def prepared(
    edges: DataFrame, nodes: DataFrame | None, pruner: Pruner, ends: tuple[str, str], edge_attr: str | Sequence[str],
    id: str, features: str | Sequence[str], position: str | None,
) -> Plan:  # fmt: skip
    """Checked tables and a fitted pruner."""
    check(pruner)
    learning = isinstance(pruner, LSP) and not is_fitted(pruner)
    want = Needs(owner=True, edge=True) if learning else needs(pruner)
    if (isinstance(pruner, First) or getattr(pruner, "ties", "") == "position") and position is None:
        raise OptionError("position must name the column that numbers the edges: this pruner goes by their order")
    if (want.owner or want.neighbour) and nodes is None and not learning:
        raise GraphError("nodes must be a table with ids and attributes, which this pruner looks at, got None")
    seen = None if nodes is None else _items(nodes, (id,), "x", features if want.owner or want.neighbour else ())
    rows = _items(edges, ends, "edge_attr", edge_attr if want.edge else ())
    if seen is not None:
        _check_known(seen, rows)
    if learning:
        assert isinstance(pruner, LSP)
        pruner = fitted(pruner, seen, rows)  # which looks at all attributes that are needed later
    else:
        if want.edge and rows.facts.values is None:
            raise GraphError("edge_attr must name the columns that describe an edge, which this pruner looks at")
        if isinstance(pruner, LSP):
            check_alike(pruner, seen, rows)
        _check_finite(seen, rows)
    assert isinstance(pruner, Local)
    return Plan(rows, seen, pruner, position)


def _check_finite(*tables: Items | None) -> None:
    for items in tables:
        if items is not None and items.facts.values is not None and items.facts.range is None:
            top(items.facts.values, items.ids, items.frame)


def fit_on(
    edges: DataFrame, nodes: DataFrame | None, pruner: LSP, ends: tuple[str, str], edge_attr: str | Sequence[str],
    id: str, features: str | Sequence[str],
) -> LSP:  # fmt: skip
    """The pruner fitted on the tables."""
    check(pruner)
    seen = None if nodes is None else _items(nodes, (id,), "x", features)
    rows = _items(edges, ends, "edge_attr", edge_attr)
    if seen is not None:
        _check_known(seen, rows)
    return fitted(pruner, seen, rows)


def _items(frame: DataFrame, ids: tuple[str, ...], name: str, columns: str | Sequence[str]) -> Items:
    for one in ids:
        check_ids(frame, one)
    return Items(frame, look(frame, ids, values_of(frame, name, columns)), ids)


def _check_known(nodes: Items, edges: Items) -> None:
    """GraphError for a node that is there twice, or an edge whose end is not among the nodes."""
    name, facts = column(nodes.ids[0]), nodes.facts
    twice: Any = nodes.frame.groupBy(name.alias("id")).count().where("count > 1").first()
    if twice is not None:
        raise GraphError(f"ids of nodes must be there once each, got {twice['id']} {twice['count']} times")
    if facts.count == facts.most + 1:  # every number up to the largest
        if edges.facts.most > facts.most:
            raise GraphError(f"ids in edges must be among the nodes, in [0, {facts.count}), got {edges.facts.most}")
        return
    known = nodes.frame.select(name.alias("id"))
    for end in edges.ids:
        lost: Any = edges.frame.select(column(end).alias("id")).join(known, "id", "left_anti").first()
        if lost is not None:
            raise GraphError(f"ids in edges must be among the nodes, got {lost['id']} in column {end!r}")


@dataclass(frozen=True, eq=False)
class Plan:
    """Checked tables and a fitted pruner."""

    edges: Items
    nodes: Items | None
    pruner: Local
    position: str | None

    @property
    def owner(self) -> str:
        """The column with the end that owns an edge."""
        return self.edges.ids[1 if self.pruner.side == "in" else 0]

    @property
    def neighbour(self) -> str:
        """The column with the other end."""
        return self.edges.ids[0 if self.pruner.side == "in" else 1]

    def pruned(self, partitions: int | None, broadcast: bool | None, hub: int) -> DataFrame:
        """The kept edges."""
        owner, loops = column(self.owner), self.pruner.self_loops
        loop = owner == column(self.neighbour)
        frame = self.edges.frame.where(~loop) if loops == "drop" else self.edges.frame
        chosen_from = frame if loops == "edge" else frame.where(~loop)
        degrees = _counted(chosen_from, self.owner)
        if self.pruner.keep is not None:
            degrees = degrees.persist()  # asked several times
        try:
            allowed, most = budget(self.pruner, degrees)
            if most is not None and allowed.level >= most:
                return frame  # every owner keeps all it has
            if allowed.most == 0:
                return frame.where(loop) if loops == "free" else frame.limit(0)
            hubs = self._hubs(chosen_from, None if most is None else degrees, hub)
        finally:
            degrees.unpersist()
        task, joined = self._described(frame, allowed, broadcast)
        return self._selected(task, joined, partitions or self._tasks(), hubs, hub)

    def _tasks(self) -> int:
        parallel = self.edges.frame.sparkSession.sparkContext.defaultParallelism
        return max(parallel, math.ceil(self.edges.facts.count / EDGES_A_TASK))

    def _hubs(self, chosen_from: DataFrame, degrees: DataFrame | None, hub: int) -> list[int]:
        """Owners with more than about `hub` edges: which ones has no influence on what is kept."""
        if self.edges.facts.count <= hub:
            return []
        if degrees is None:
            share = 1 / SEEN if hub >= 100 * SEEN else 1.0
            degrees, hub = _counted(chosen_from.sample(fraction=share, seed=0), self.owner), int(hub * share)
        found = degrees.where(F.col("degree") > hub).toArrow()
        return [int(one) for one in found.column("owner").to_pylist()]

    def _selected(self, task: Select, joined: DataFrame, tasks: int, hubs: list[int], hub: int) -> DataFrame:
        """Selection by tasks that have all edges of an owner; of hubs, what is left after several tasks had a share."""
        owner = column(self.owner)
        order = [] if self.position is None else [column(self.position)]
        if hubs:
            share = F.pmod(F.xxhash64(*self._telling()), F.lit(math.ceil(self.edges.facts.count / hub)))
            many = joined.where(owner.isin(hubs)).withColumn(SHARE, share)
            many = many.repartition(tasks, owner, F.col(SHARE)).sortWithinPartitions(owner, F.col(SHARE), *order)
            first = replace(task, out=tuple(joined.columns), share=True)
            joined = joined.where(~owner.isin(hubs)).unionByName(many.mapInArrow(first.run, joined.schema))
        # The last shuffle is asked for by number: Spark's adaptive execution leaves such a one as it is.
        by_owner = joined.repartition(tasks, owner).sortWithinPartitions(owner, *order)
        return by_owner.mapInArrow(task.run, self.edges.frame.schema)

    def _telling(self) -> list[Column]:
        """Columns by which the edges of a hub are dealt out: the same way when a task runs again."""
        values = self.edges.facts.values
        names = (*self.edges.ids, *(() if values is None else values.columns))
        return [column(name) for name in dict.fromkeys((*names, *((self.position,) if self.position else ())))]

    def _described(self, frame: DataFrame, allowed: Budget, broadcast: bool | None) -> tuple[Select, DataFrame]:
        """The selecting task, and the edges with all that it needs of their ends."""
        want, rows = needs(self.pruner), self._rows()
        steps = 1 if getattr(self.pruner, "select", "bottom") == "bottom" else allowed.most
        ready = want.by_node and (want.neighbour or want.degree) and steps <= max(self._dim(), MOST_KEYS)
        if want.neighbour or want.degree:
            some = self._about(frame, want.neighbour, want.degree)
            task = Describe(self.pruner, rows if want.neighbour else None, want.degree, steps if ready else 0)
            width = 4 * steps if ready else 4 * self._dim() + 8
            frame = self._joined(frame, some.mapInArrow(task.run, task.schema), self.neighbour, broadcast, width)
        if want.owner:
            task = Describe(self.pruner, rows, False, 0)
            told = self._about(frame, True, False).mapInArrow(task.run, task.schema)
            told = told.withColumnRenamed(OF_NEIGHBOUR, OF_OWNER)
            frame = self._joined(frame, told, self.owner, broadcast, 4 * self._dim())
        select = Select(
            self.pruner, allowed, self.owner, self.neighbour, tuple(self.edges.frame.columns),
            steps=steps if ready else 0, x_owner=rows if want.owner else None,
            x_neighbour=rows if want.neighbour and not ready else None,
            edge_attr=self.edges.facts.values if want.edge else None, degree=want.degree and not ready,
        )  # fmt: skip
        return select, frame

    def _rows(self) -> Packed | None:
        if self.nodes is None or self.nodes.facts.values is None:
            return None
        return Packed(self.nodes.facts.values, category=self.nodes.facts.range is not None)

    def _dim(self) -> int:
        values = None if self.nodes is None else self.nodes.facts.values
        return 0 if values is None else values.dim or len(values.columns)

    def _about(self, frame: DataFrame, attributes: bool, degree: bool) -> DataFrame:
        """A row for each node: its id, its attributes if asked for, how many edges have it as their neighbour.

        Without attributes the rows are those of the neighbours in `frame`. A node that is only its own neighbour is
        one of them, with degree 0 where self-loops do not count: a free self-loop must find a row to be joined with.
        """
        counts = self._degrees(frame)
        if not attributes:
            return counts
        assert self.nodes is not None and self.nodes.facts.values is not None
        some = self.nodes.frame.select(
            column(self.nodes.ids[0]).cast("long").alias(ID), *map(column, self.nodes.facts.values.columns)
        )
        return some.join(counts, ID, "left").fillna(0, [DEGREE]) if degree else some

    def _degrees(self, frame: DataFrame) -> DataFrame:
        """(id, degree) of every neighbour in `frame`; self-loops count where they are edges like any other."""
        counts = F.lit(True) if self.pruner.self_loops == "edge" else column(self.owner) != column(self.neighbour)
        return frame.groupBy(column(self.neighbour).cast("long").alias(ID)).agg(F.count_if(counts).alias(DEGREE))

    def _joined(self, frame: DataFrame, told: DataFrame, end: str, broadcast: bool | None, width: int) -> DataFrame:
        """The edges with what is told of one of their ends."""
        count = self.edges.facts.most + 1 if self.nodes is None else self.nodes.facts.count
        small = count * (width + 16) <= SMALL if broadcast is None else broadcast
        told = told.hint("broadcast" if small else "merge")
        return frame.join(told, column(end) == F.col(ID), "inner").drop(ID)


def _counted(edges: DataFrame, end: str) -> DataFrame:
    """(owner, degree): how many edges have each node at this end."""
    return edges.groupBy(column(end).cast("long").alias("owner")).agg(F.count(F.lit(1)).alias("degree"))
