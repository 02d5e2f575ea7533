"""Pruning on Spark: the same edges as in memory, bit for bit, from tables of edges and nodes of any size.

Keys are made where the nodes are and joined to the edges by neighbour; the edges of an owner come to one task, which
selects from them batch by batch with the kernels that every other executor uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprune.errors import MissingDependency
from lsprune.pruners import Pruner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["fit_spark", "prune_spark"]

HUB = 1 << 22  # edges of one owner beyond which several tasks share them


def prune_spark(
    edges: DataFrame,
    nodes: DataFrame | None,
    pruner: Pruner,
    *,
    source: str = "source",
    target: str = "target",
    edge_attr: str | Sequence[str] = (),
    id: str | None = None,
    features: str | Sequence[str] | None = None,
    bipartite: bool | None = None,
    targets: DataFrame | None = None,
    target_id: str | None = None,
    target_features: str | Sequence[str] | None = None,
    position: str | None = None,
    partitions: int | None = None,
    broadcast: bool | None = None,
    hub: int = HUB,
) -> DataFrame:
    """The kept rows of `edges`, with the same columns and types, in any order.

    A few small jobs run at once (checks, `fit` if the pruner is not fitted, degrees for `keep`); the selection itself
    runs when the result is used. The tables must be the same each time they are read. Ids are whole numbers >= 0.
    Needs `pip install 'lsprune[spark]'` and Java 17, and lsprune on every worker.

    Args:
        edges: a row for each edge. nodes: a row for each node; None where the pruner looks at no node attributes.
        pruner: as for `prune`; one that must see the whole graph, or learns from all of it, is refused.
        source, target: columns of `edges`. edge_attr: those that describe an edge: numbers, or one column of arrays.
        id: the column of ids in `nodes`; default `id` (or `node_id`, `node`).
        features: columns of attributes in `nodes`, one of arrays or several of numbers; default `x` if it holds arrays,
            else all columns but ids.
        bipartite: sources and targets are two kinds of nodes with ids of their own: `nodes`, `id` and `features` are
            those of the sources, `targets`, `target_id` and `target_features` those of the targets. False: they are
            one kind. Default: one kind, with a warning where the names of the columns look like two.
        position: a column of `edges` that numbers them, for pruners that go by the order of edges; with it, parallel
            edges with equal keys are told apart as in memory too.
        partitions: tasks of the selection. Default: one for every 2 million edges, at least the default parallelism.
        broadcast: send what the edges need of the nodes to every executor (True), or shuffle (False). Default: by size.
        hub: owners with more edges than this are selected from by several tasks first; the outcome is the same.
    """
    _check_installed()
    from lsprune.spark.plan import Tables, prepared
    from lsprune.spark.workers import check_workers

    tables = Tables(edges, (source, target), edge_attr, (nodes, targets), (id, target_id), (features, target_features))
    check_workers(edges.sparkSession)
    plan = prepared(tables.checked(bipartite), pruner, position)
    return plan.pruned(partitions, broadcast, hub)


def fit_spark(
    edges: DataFrame,
    nodes: DataFrame | None,
    pruner: Pruner,
    *,
    source: str = "source",
    target: str = "target",
    edge_attr: str | Sequence[str] = (),
    id: str | None = None,
    features: str | Sequence[str] | None = None,
    bipartite: bool | None = None,
    targets: DataFrame | None = None,
    target_id: str | None = None,
    target_features: str | Sequence[str] | None = None,
) -> Pruner:
    """Fit the pruner on these tables: equal to `pruner.fit` on the same graph in memory. Arguments as above."""
    _check_installed()
    from lsprune.spark.plan import Tables, fit_on
    from lsprune.spark.workers import check_workers

    tables = Tables(edges, (source, target), edge_attr, (nodes, targets), (id, target_id), (features, target_features))
    check_workers(edges.sparkSession)
    return fit_on(tables.checked(bipartite), pruner)


def _check_installed() -> None:
    try:
        import pandas  # noqa: F401  (pyspark's mapInArrow asks for it)
        import pyspark
    except ImportError as error:
        raise MissingDependency(f"Spark needs {error.name}: pip install 'lsprune[spark]'") from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise MissingDependency(f"PySpark must be 4 or newer, got {pyspark.__version__}: pip install 'lsprune[spark]'")
