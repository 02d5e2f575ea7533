"""The edges of a plan as comparisons of neighbourhoods see them: owner, neighbour, and the table of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprune.spark.checked_table import CheckedTable
from lsprune.spark.columns import column
from lsprune.spark.tasks import ID_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CARRIED_COLUMN = "_lsprune_carried"  # and a number: the logarithm of a weight
MAX_BROADCAST_NODES = 1 << 16  # whose rows are sent to every executor by default
OWNER_ID, NEIGHBOUR_ID = "_lsprune_owner_id", "_lsprune_neighbour_id"


@dataclass(frozen=True, eq=False)
class EdgeEnds:
    """Edges, and which columns hold their ends.

    Args:
        edges: all that need a weight. counted: those that make a node a neighbour; self-loops often do not.
        nodes: the table of nodes; None if no attributes are compared. partitions: tasks of a shuffle.
        broadcast: send rows of nodes to every executor (True), or shuffle (False); None: by their number.
    """

    edges: DataFrame
    counted: DataFrame
    owner: str
    neighbour: str
    nodes: CheckedTable | None
    partitions: int
    broadcast: bool | None = None

    def ids(self, frame: DataFrame) -> DataFrame:
        """Return owner and neighbour of each edge of a frame, as long integers."""
        owner, neighbour = column(self.owner).cast("long"), column(self.neighbour).cast("long")
        return frame.select(owner.alias(OWNER_ID), neighbour.alias(NEIGHBOUR_ID))

    def join(self, frame: DataFrame, rows: DataFrame, end: str) -> DataFrame:
        """Return edges joined with rows of the nodes (by ID_COLUMN) at the end that a column holds."""
        from pyspark.sql import functions as F

        few = self.nodes is not None and self.nodes.facts.count <= MAX_BROADCAST_NODES
        rows = rows.hint("broadcast" if (few if self.broadcast is None else self.broadcast) else "merge")
        return frame.join(rows, column(end) == F.col(ID_COLUMN), "inner").drop(ID_COLUMN)
