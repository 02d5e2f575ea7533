"""Prune on Spark: the same edges as in memory, bit for bit, from tables of edges and nodes of any size.

The walk of `prune_spark`:

1. `check_workers`: every worker has this version of lsprune.
2. `GraphTables` describes the tables; `prepare` checks them in a few small jobs and fits the pruner if necessary
   (`fitting.fit`, from totals over partitions). It returns a `Plan`.
3. `Plan.pruned` computes the quotas of the owners (`find_budget`) and finds hubs, owners with very many edges.
   Weights that compare neighbourhoods are computed once and carried as columns of the edges (`carried_weights.carry`).
4. The task `Describe` computes keys where the nodes are; they are joined to the edges by neighbour.
5. The edges of an owner are shuffled to one task, `Select`, which selects batch by batch with the kernels of all other
   executors (`outofcore.partial_selection`). Of a hub, several tasks first select from a share each.

Steps 4 and 5 run when the result is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from lsprune.errors import MissingDependency
from lsprune.pruners import Pruner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lsprune.spark.tables import TableKeywords

__all__ = ["fit_spark", "prune_spark"]

HUB_EDGES = 1 << 22  # edges of one owner beyond which several tasks share them


def prune_spark(
    edges: DataFrame,
    nodes: DataFrame | None,
    pruner: Pruner,
    *,
    position: str | None = None,
    partitions: int | None = None,
    broadcast: bool | None = None,
    hub: int = HUB_EDGES,
    **keywords: Unpack[TableKeywords],
) -> DataFrame:
    """Return the kept rows of `edges`, with the same columns and types, in any order.

    A few small jobs run at once (checks, `fit` if the pruner is not fitted, degrees for `keep`); the selection itself
    runs when the result is used. The tables must be the same each time they are read. Ids are whole numbers >= 0.
    Needs `pip install 'lsprune[spark]'` and Java 17, and lsprune on every worker.

    Args:
        edges: a row for each edge.
        nodes: a row for each node; None if the pruner needs no node attributes.
        pruner: as for `prune`. One that needs the whole graph is refused; one that learns from all of it, or from
            labels, must be fitted.
        position: a column of `edges` that numbers them, for pruners that go by the order of edges. With it, parallel
            edges with equal keys are distinguished as in memory too.
        partitions: tasks of the selection. Default: one for every 2 million edges, at least the default parallelism.
        broadcast: send what the edges need of the nodes to every executor (True), or shuffle (False). Default: by size.
        hub: owners with more edges than this are first selected from by several tasks; the result is the same.
        keywords: fields of `lsprune.spark.tables.GraphTables`, which say what the columns hold: `source`, `target`,
            `edge_attr`, `id`, `features`, `bipartite`, `targets`, `target_id`, `target_features`.
    """
    _check_installed()
    from lsprune.spark.preparation import prepare
    from lsprune.spark.tables import GraphTables
    from lsprune.spark.workers import check_workers

    check_workers(edges.sparkSession)
    plan = prepare(GraphTables(edges=edges, nodes=nodes, **keywords), pruner, position)
    return plan.pruned(partitions, broadcast, hub)


def fit_spark(edges: DataFrame, nodes: DataFrame | None, pruner: Pruner, **keywords: Unpack[TableKeywords]) -> Pruner:
    """Fit the pruner on tables: equal to `pruner.fit` on the same graph in memory. Arguments as for `prune_spark`."""
    _check_installed()
    from lsprune.spark.preparation import fit_tables
    from lsprune.spark.tables import GraphTables
    from lsprune.spark.workers import check_workers

    check_workers(edges.sparkSession)
    return fit_tables(GraphTables(edges=edges, nodes=nodes, **keywords), pruner)


def _check_installed() -> None:
    """Raise MissingDependency unless pandas and PySpark 4 are installed."""
    try:
        import pandas  # noqa: F401  (pyspark's mapInArrow asks for it)
        import pyspark
    except ImportError as error:
        raise MissingDependency(f"Spark needs {error.name}: pip install 'lsprune[spark]'") from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise MissingDependency(f"PySpark must be 4 or newer, got {pyspark.__version__}: pip install 'lsprune[spark]'")
