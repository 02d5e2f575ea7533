"""The tables of a graph as the caller describes them: edges, nodes, and which columns hold what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from lsprune.files.node_kinds import check_two_kinds, look_like_two_kinds, warn_two_kinds
from lsprune.files.node_table import CHOOSE
from lsprune.spark.checked_table import CheckedTable, NodeTables
from lsprune.spark.columns import check_id_column, choose_node_columns, column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class TableKeywords(TypedDict, total=False):
    """The keywords of `prune_spark` and `fit_spark` that describe the tables: fields of `GraphTables`."""

    source: str
    target: str
    edge_attr: str | Sequence[str]
    id: str | None
    features: str | Sequence[str] | None
    bipartite: bool | None
    targets: DataFrame | None
    target_id: str | None
    target_features: str | Sequence[str] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphTables:
    """The tables of a graph.

    Args:
        edges: a row for each edge.
        nodes: a row for each node; None if the pruner needs no node attributes.
        source, target: columns of `edges` that hold ids.
        edge_attr: columns of `edges` with attributes: numbers, or one column of arrays.
        id: the column of ids in `nodes`; default `id` (or `node_id`, `node`).
        features: columns of attributes in `nodes`, one of arrays or several of numbers; default `x` if it holds arrays,
            else all columns but ids.
        bipartite: sources and targets are two kinds of nodes with ids of their own: `nodes`, `id` and `features` are
            those of the sources, `targets`, `target_id` and `target_features` those of the targets. False: they are
            one kind. Default: one kind, with a warning if the names of the columns look like two.
    """

    edges: DataFrame
    nodes: DataFrame | None
    source: str = "source"
    target: str = "target"
    edge_attr: str | Sequence[str] = ()
    id: str | None = None
    features: str | Sequence[str] | None = None
    bipartite: bool | None = None
    targets: DataFrame | None = None
    target_id: str | None = None
    target_features: str | Sequence[str] | None = None

    @property
    def two_kinds(self) -> bool:
        """Whether sources and targets are two kinds of nodes."""
        return bool(self.bipartite)

    def node_frame(self, end: int) -> DataFrame | None:
        """Return the table with the nodes of end 0 (source) or 1 (target) of an edge."""
        return self.targets if self.two_kinds and end else self.nodes

    def without_features(self, names: Sequence[str]) -> GraphTables:
        """Return the tables without these columns of the nodes, which are no features unless the caller names them."""

        def cut(frame: DataFrame | None, features: str | Sequence[str] | None) -> DataFrame | None:
            stay = (features,) if isinstance(features, str) else tuple(features or ())
            return None if frame is None else frame.drop(*(name for name in names if name not in stay))

        return replace(self, nodes=cut(self.nodes, self.features), targets=cut(self.targets, self.target_features))

    def check_kinds(self) -> None:
        """Raise OptionError for options of two kinds of nodes if there is one; warn if there seem to be two."""
        check_two_kinds(
            self.bipartite, False, targets=self.targets is not None, target_id=self.target_id,
            target_features=self.target_features,
        )  # fmt: skip
        ends = (self.source, self.target)
        if self.bipartite is None and look_like_two_kinds(ends):
            for name in ends:
                check_id_column(self.edges, name)
            if self.edges.where(column(self.source) == column(self.target)).first() is not None:
                warn_two_kinds(ends)

    def check_nodes(self, attributes: tuple[bool, bool]) -> NodeTables:
        """Return the checked tables of the sources and of the targets; `attributes` says whose are needed."""
        if self.two_kinds:
            targets = _check_nodes(self.targets, self.target_id, self.target_features, attributes[1])
            return _check_nodes(self.nodes, self.id, self.features, attributes[0]), targets
        nodes = _check_nodes(self.nodes, self.id, self.features, any(attributes))
        return nodes, nodes

    def check_edges(self, attributes: bool) -> CheckedTable:
        """Return the checked table of the edges, with `edge_attr` if `attributes` are needed."""
        ends = (self.source, self.target)
        return CheckedTable.of(self.edges, ends, "edge_attr", self.edge_attr if attributes else ())


def _check_nodes(
    frame: DataFrame | None, id: str | None, features: str | Sequence[str] | None, attributes: bool
) -> CheckedTable | None:
    if frame is None:
        return None
    columns = choose_node_columns(frame, id, features if attributes else ())
    assert columns.id is not None
    return CheckedTable.of(frame, (columns.id,), "x", columns.features, "" if features else CHOOSE)
