"""From tables to the selection: what is checked first, what the edges are joined with, and who selects from which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from lsprune.errors import GraphError, OptionError
from lsprune.files.node_kinds import check_two_kinds, look_like_two_kinds, warn_two_kinds
from lsprune.files.node_table import CHOOSE
from lsprune.graph import oriented
from lsprune.needs import Needs
from lsprune.outofcore.partial_selection import per_owner
from lsprune.pruners import PerOwner, Pruner
from lsprune.spark.budget import Budget, budget
from lsprune.spark.fitting import Ends, Items, check_attributes, fitted
from lsprune.spark.folds import top
from lsprune.spark.frames import check_ids, column, columns_of, kind_of, look, values_of
from lsprune.spark.tasks import DEGREE, ID, OF_NEIGHBOUR, OF_OWNER, SHARE, Describe, Packed, Select

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EDGES_A_TASK = 1 << 21
SMALL = 1 << 26  # bytes of keys or attributes that are sent to every executor instead of being shuffled
MOST_KEYS = 64  # functions whose keys travel; beyond that the attributes do, where they are narrower
SEEN = 64  # one edge in so many is looked at to find hubs


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a graph as they were given; pairs are of the sources, or of all nodes, and of the targets."""

    edges: DataFrame
    ends: tuple[str, str]
    edge_attr: str | Sequence[str]
    nodes: tuple[DataFrame | None, DataFrame | None]
    ids: tuple[str | None, str | None]
    features: tuple[str | Sequence[str] | None, str | Sequence[str] | None]
    bipartite: bool = False

    def checked(self, bipartite: bool | None) -> Tables:
        """The same, with what is known of the kinds of nodes; warns where they look like two."""
        more = {"targets": self.nodes[1] is not None, "target_id": self.ids[1], "target_features": self.features[1]}
        two = check_two_kinds(bipartite, False, **more)
        if bipartite is None and look_like_two_kinds(self.ends):
            for name in self.ends:
                check_ids(self.edges, name)
            if self.edges.where(column(self.ends[0]) == column(self.ends[1])).first() is not None:
                warn_two_kinds(self.ends)
        return replace(self, bipartite=two)

    def items(self, wanted: tuple[bool, bool]) -> Ends:
        """The tables of sources and of targets, each with its attributes if they are wanted; one kind has one table."""
        if not self.bipartite:
            found = self._nodes(0, any(wanted))
            return found, found
        return self._nodes(0, wanted[0]), self._nodes(1, wanted[1])

    def edge_items(self, attributes: bool) -> Items:
        """The table of edges."""
        return _items(self.edges, self.ends, "edge_attr", self.edge_attr if attributes else ())

    def _nodes(self, end: int, attributes: bool) -> Items | None:
        frame = self.nodes[end]
        if frame is None:
            return None
        chosen = columns_of(frame, self.ids[end], self.features[end] if attributes else ())
        assert chosen.id is not None
        return _items(frame, (chosen.id,), "x", chosen.features, "" if self.features[end] else CHOOSE)


def prepared(tables: Tables, pruner: Pruner, position: str | None) -> Plan:
    """Check the tables, and fit the pruner on them if it is not fitted."""
    owners = per_owner(pruner)
    learning = not pruner.is_fitted
    want = Needs(owner=True, neighbour=True, edge=True) if learning else pruner.needs
    if pruner.needs.position and position is None:
        raise OptionError("position must name the column that numbers the edges: this pruner goes by their order")
    wanted = oriented(pruner.side, want.owner, want.neighbour)
    for end, needed in enumerate(wanted):
        if needed and tables.nodes[end if tables.bipartite else 0] is None and not learning:
            name = "targets" if tables.bipartite and end else "nodes"
            raise GraphError(f"{name} must be a table with ids and attributes, which this pruner looks at, got None")
    seen = tables.items(wanted)
    rows = tables.edge_items(want.edge)
    _check_ends(seen, rows, tables.bipartite)
    if learning:
        owners = fitted(owners, seen, rows)  # which looks at all attributes that are needed later
    else:
        if want.edge and rows.facts.values is None:
            raise GraphError("edge_attr must name the columns that describe an edge, which this pruner looks at")
        check_attributes(owners, seen, rows)
        _check_finite(*(seen if tables.bipartite else seen[:1]))
        (_check_exact if want.own_type else _check_finite)(rows)
    return Plan(rows, seen, owners, position, tables.bipartite)


def _check_finite(*tables: Items | None) -> None:
    for items in tables:
        if items is not None and items.facts.values is not None and items.facts.range is None:
            top(items.facts.values, items.ids, items.frame)


def _check_exact(rows: Items) -> None:
    """GraphError for an edge attribute that is not finite in its own type: weights that are compared as they are."""
    for name in () if rows.facts.values is None else rows.facts.values.columns:
        kind = kind_of(rows.frame, name)
        if not kind.removeprefix("array<").startswith(("float", "double")):
            continue
        bad = F.exists(column(name), _not_finite) if kind.startswith("array") else _not_finite(column(name))
        found: Any = rows.frame.where(bad).first()
        if found is not None:
            where = ", ".join(f"{end} {found[end]}" for end in rows.ids)
            raise GraphError(f"edge_attr must be finite, got {found[name]} at {where}")


def _not_finite(value: Column) -> Column:
    return F.isnan(value) | (F.abs(value) == float("inf"))


def fit_on(tables: Tables, pruner: Pruner) -> PerOwner:
    """Fit the pruner on the tables."""
    owners = per_owner(pruner)
    seen, rows = tables.items((True, True)), tables.edge_items(True)
    _check_ends(seen, rows, tables.bipartite)
    return fitted(owners, seen, rows)


def _items(frame: DataFrame, ids: tuple[str, ...], name: str, columns: str | Sequence[str], hint: str = "") -> Items:
    for one in ids:
        check_ids(frame, one)
    return Items(frame, look(frame, ids, values_of(frame, name, columns, hint)), ids)


def _check_ends(seen: Ends, rows: Items, bipartite: bool) -> None:
    """GraphError as by `_check_known`, for the table of each kind of nodes."""
    for end, items in enumerate(seen if bipartite else seen[:1]):
        if items is not None:
            _check_known(items, rows, (end,) if bipartite else (0, 1))


def _check_known(nodes: Items, edges: Items, ends: tuple[int, ...]) -> None:
    """GraphError for a node that is there twice, or an edge one of whose `ends` is not among the nodes."""
    name, facts = column(nodes.ids[0]), nodes.facts
    twice: Any = nodes.frame.groupBy(name.alias("id")).count().where("count > 1").first()
    if twice is not None:
        raise GraphError(f"ids of nodes must be there once each, got {twice['id']} {twice['count']} times")
    if facts.count == facts.most + 1:  # every number up to the largest
        most = max(edges.facts.each[end] for end in ends)
        if most > facts.most:
            raise GraphError(f"ids in edges must be among the nodes, in [0, {facts.count}), got {most}")
        return
    known = nodes.frame.select(name.alias("id"))
    for end in (edges.ids[end] for end in ends):
        lost: Any = edges.frame.select(column(end).alias("id")).join(known, "id", "left_anti").first()
        if lost is not None:
            raise GraphError(f"ids in edges must be among the nodes, got {lost['id']} in column {end!r}")


@dataclass(frozen=True, eq=False)
class Plan:
    """Checked tables and a fitted pruner."""

    edges: Items
    nodes: Ends
    pruner: PerOwner
    position: str | None
    bipartite: bool = False

    @property
    def owners(self) -> int:
        """Which end of an edge owns it: 0, the source, or 1, the target."""
        return oriented(self.pruner.side, 0, 1)[0]

    @property
    def owner(self) -> str:
        """The column with the end that owns an edge."""
        return self.edges.ids[self.owners]

    @property
    def neighbour(self) -> str:
        """The column with the other end."""
        return self.edges.ids[1 - self.owners]

    def pruned(self, partitions: int | None, broadcast: bool | None, hub: int) -> DataFrame:
        """The kept edges."""
        owner, loops = column(self.owner), self.pruner.self_loops
        loop = F.lit(False) if self.bipartite else owner == column(self.neighbour)
        frame = self.edges.frame.where(~loop) if loops == "drop" else self.edges.frame
        chosen_from = frame if loops == "edge" else frame.where(~loop)
        degrees = _counted(chosen_from, self.owner)
        if self.pruner.rules.keep is not None:
            degrees = degrees.persist()  # asked several times
        try:
            allowed, most = budget(self.pruner.rules, degrees)
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
        want, own, other = self.pruner.needs, self.nodes[self.owners], self.nodes[1 - self.owners]
        steps = self.pruner.functions_needed(allowed.most)
        ready = want.by_neighbour and (want.neighbour or want.degree) and steps <= max(_dim(other), MOST_KEYS)
        if want.neighbour or want.degree:
            some = self._about(frame, other, want.neighbour, want.degree)
            task = Describe(self.pruner, _rows(other) if want.neighbour else None, want.degree, steps if ready else 0)
            width = 4 * steps if ready else 4 * _dim(other) + 8
            told = some.mapInArrow(task.run, task.schema)
            frame = self._joined(frame, told, other, self.neighbour, broadcast, width)
        if want.owner:
            task = Describe(self.pruner, _rows(own), False, 0)
            told = self._about(frame, own, True, False).mapInArrow(task.run, task.schema)
            told = told.withColumnRenamed(OF_NEIGHBOUR, OF_OWNER)
            frame = self._joined(frame, told, own, self.owner, broadcast, 4 * _dim(own))
        select = Select(
            self.pruner, allowed, self.owner, self.neighbour, tuple(self.edges.frame.columns),
            steps=steps if ready else 0, x_owner=_rows(own) if want.owner else None,
            x_neighbour=_rows(other) if want.neighbour and not ready else None, bipartite=self.bipartite,
            edge_attr=self.edges.facts.values if want.edge else None, degree=want.degree and not ready,
        )  # fmt: skip
        return select, frame

    def _about(self, frame: DataFrame, nodes: Items | None, attributes: bool, degree: bool) -> DataFrame:
        """A row for each node: its id, its attributes if asked for, how many edges have it as their neighbour.

        Without attributes the rows are those of the neighbours in `frame`. A node that is only its own neighbour is
        one of them, with degree 0 where self-loops do not count: a free self-loop must find a row to be joined with.
        """
        counts = self._degrees(frame)
        if not attributes:
            return counts
        assert nodes is not None and nodes.facts.values is not None
        some = nodes.frame.select(column(nodes.ids[0]).cast("long").alias(ID), *map(column, nodes.facts.values.columns))
        return some.join(counts, ID, "left").fillna(0, [DEGREE]) if degree else some

    def _degrees(self, frame: DataFrame) -> DataFrame:
        """(id, degree) of every neighbour in `frame`; self-loops count where they are edges like any other."""
        all_count = self.bipartite or self.pruner.self_loops == "edge"
        counts = F.lit(True) if all_count else column(self.owner) != column(self.neighbour)
        return frame.groupBy(column(self.neighbour).cast("long").alias(ID)).agg(F.count_if(counts).alias(DEGREE))

    def _joined(
        self, frame: DataFrame, told: DataFrame, nodes: Items | None, end: str, broadcast: bool | None, width: int
    ) -> DataFrame:
        """The edges with what is told of one of their ends."""
        count = self.edges.facts.most + 1 if nodes is None else nodes.facts.count
        small = count * (width + 16) <= SMALL if broadcast is None else broadcast
        told = told.hint("broadcast" if small else "merge")
        return frame.join(told, column(end) == F.col(ID), "inner").drop(ID)


def _rows(nodes: Items | None) -> Packed | None:
    """How the attributes of nodes travel."""
    if nodes is None or nodes.facts.values is None:
        return None
    return Packed(nodes.facts.values, category=nodes.facts.range is not None)


def _dim(nodes: Items | None) -> int:
    values = None if nodes is None else nodes.facts.values
    return 0 if values is None else values.dim or len(values.columns)


def _counted(edges: DataFrame, end: str) -> DataFrame:
    """(owner, degree): how many edges have each node at this end."""
    return edges.groupBy(column(end).cast("long").alias("owner")).agg(F.count(F.lit(1)).alias("degree"))
