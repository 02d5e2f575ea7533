"""Check the tables of a graph against each other and against the pruner, and fit the pruner if it is not fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from lsprune.errors import GraphError, OptionError
from lsprune.graph import oriented
from lsprune.needs import Needs
from lsprune.outofcore.partial_selection import per_owner
from lsprune.pruners import PerOwner, Pruner
from lsprune.spark.checked_table import CheckedTable, NodeTables
from lsprune.spark.columns import column, column_type, value_type
from lsprune.spark.fitting import check_fitted, fit, sample_graph
from lsprune.spark.number_columns import check_named_columns
from lsprune.spark.plan import Plan
from lsprune.spark.tables import GraphTables
from lsprune.spark.time_filter import within_time
from lsprune.spark.totals import largest_bits

if TYPE_CHECKING:
    from pyspark.sql import Column


def prepare(tables: GraphTables, pruner: Pruner, position: str | None) -> Plan:
    """Check the tables, leave out edges that are not allowed, fit the pruner if needed, and return the plan."""
    owners = _distributable(pruner)
    needs = owners.needs
    if needs.position and position is None:
        raise OptionError("position must name the column that numbers the edges: this pruner goes by their order")
    tables.check_kinds()
    tables = _allowed(tables, pruner)
    check_named_columns(tables.edges, needs.edge_columns)
    if not owners.is_fitted:
        nodes, edges = _check_all(tables)
        fitted = fit(owners, nodes, edges)  # it checks the attributes
        return _plan(fitted, nodes, edges, position, tables.two_kinds)
    ends = oriented(pruner.side, needs.owner, needs.neighbour)
    _check_node_tables(tables, ends)
    nodes, edges = tables.check_nodes(ends), tables.check_edges(needs.edge)
    _check_ids(nodes, edges, tables.two_kinds)
    _check_attributes(owners.carrying(), nodes, edges, needs)
    return _plan(owners, nodes, edges, position, tables.two_kinds)


def _distributable(pruner: Pruner) -> PerOwner:
    """Return the pruner that chooses among allowed edges; raise OptionError if its keys need more than single edges."""
    owners = pruner.among_allowed()
    if isinstance(owners, PerOwner):
        per_owner(owners.carrying())
        return owners
    return per_owner(owners)


def _allowed(tables: GraphTables, pruner: Pruner) -> GraphTables:
    """Return the tables with the edges that the pruner's rules allow; what it asks for by name is no feature."""
    needs, plain = pruner.needs, tables.without_features(pruner.needs.edge_columns)
    if not needs.within:
        return plain
    _check_ids(tables.check_nodes((False, False)), tables.check_edges(False), tables.two_kinds)
    return replace(plain, edges=within_time(tables, needs.within))


def _plan(pruner: PerOwner, nodes: NodeTables, edges: CheckedTable, position: str | None, two_kinds: bool) -> Plan:
    """Return the plan of a fitted pruner; raise GraphError if its weights cannot compare these nodes."""
    comparisons = pruner.comparisons()
    for comparison in comparisons:
        comparison.check(sample_graph(nodes, two_kinds))
    return Plan(edges, nodes, pruner.carrying(), position, two_kinds, comparisons)


def fit_tables(tables: GraphTables, pruner: Pruner) -> Pruner:
    """Fit the pruner on the tables, of which it sees the allowed edges."""
    owners = _distributable(pruner)
    tables.check_kinds()
    return pruner.around(fit(owners, *_check_all(_allowed(tables, pruner))))


def _check_all(tables: GraphTables) -> tuple[NodeTables, CheckedTable]:
    """Check the tables with all their attributes, as `fit` needs them."""
    nodes, edges = tables.check_nodes((True, True)), tables.check_edges(True)
    _check_ids(nodes, edges, tables.two_kinds)
    return nodes, edges


def _check_node_tables(tables: GraphTables, needed: tuple[bool, bool]) -> None:
    """Raise GraphError if a table of nodes is needed and missing."""
    for end in (0, 1):
        if needed[end] and tables.node_frame(end) is None:
            name = "targets" if tables.two_kinds and end else "nodes"
            raise GraphError(f"{name} must be a table with ids and attributes, which this pruner needs, got None")


def _check_ids(nodes: NodeTables, edges: CheckedTable, two_kinds: bool) -> None:
    """Raise GraphError for a node that is in its table twice, or an edge whose end is not among the nodes."""
    for end, table in enumerate(nodes if two_kinds else nodes[:1]):
        if table is not None:
            _check_unique(table)
            _check_ends(table, edges, (end,) if two_kinds else (0, 1))


def _check_unique(nodes: CheckedTable) -> None:
    ids = column(nodes.id_columns[0])
    repeated: Any = nodes.frame.groupBy(ids.alias("id")).count().where("count > 1").first()
    if repeated is not None:
        raise GraphError(f"ids of nodes must be unique, got {repeated['id']} {repeated['count']} times")


def _check_ends(nodes: CheckedTable, edges: CheckedTable, ends: tuple[int, ...]) -> None:
    """Raise GraphError unless these ends of the edges are among the nodes."""
    facts = nodes.facts
    if facts.count == facts.largest_id + 1:  # every number up to the largest id
        largest = max(edges.facts.largest_ids[end] for end in ends)
        if largest > facts.largest_id:
            raise GraphError(f"ids in edges must be among the nodes, in [0, {facts.count}), got {largest}")
        return
    known = nodes.frame.select(column(nodes.id_columns[0]).alias("id"))
    for name in (edges.id_columns[end] for end in ends):
        unknown: Any = edges.frame.select(column(name).alias("id")).join(known, "id", "left_anti").first()
        if unknown is not None:
            raise GraphError(f"ids in edges must be among the nodes, got {unknown['id']} in column {name!r}")


def _check_attributes(pruner: PerOwner, nodes: NodeTables, edges: CheckedTable, needs: Needs) -> None:
    """Raise GraphError unless the attributes are there, of the kind that the pruner was fitted on, and finite."""
    if needs.edge and edges.facts.attributes is None:
        raise GraphError("edge_attr must name the columns that describe an edge, which this pruner needs")
    check_fitted(pruner, nodes, edges)
    for table in nodes[:1] if nodes[0] is nodes[1] else nodes:
        _check_finite(table)
    if needs.own_type:
        _check_finite_exactly(edges)
    else:
        _check_finite(edges)


def _check_finite(table: CheckedTable | None) -> None:
    """Raise GraphError for an attribute that is not finite in float32."""
    if table is not None and table.facts.attributes is not None and table.facts.integer_range is None:
        largest_bits(table.facts.attributes, table.id_columns, table.frame)


def _check_finite_exactly(edges: CheckedTable) -> None:
    """Raise GraphError for an edge attribute that is not finite in its own type, in which weights are compared."""
    for name in () if edges.facts.attributes is None else edges.facts.attributes.columns:
        if value_type(edges.frame, name) not in ("float", "double"):
            continue
        is_array = column_type(edges.frame, name).startswith("array<")
        bad = F.exists(column(name), _is_not_finite) if is_array else _is_not_finite(column(name))
        row: Any = edges.frame.where(bad).first()
        if row is not None:
            ids = ", ".join(f"{end} {row[end]}" for end in edges.id_columns)
            raise GraphError(f"edge_attr must be finite, got {row[name]} at {ids}")


def _is_not_finite(value: Column) -> Column:
    return F.isnan(value) | (F.abs(value) == float("inf"))
