"""From any kind of graph to masks and back: `prune`, `mask` and `explain`.

`prune` reads top to bottom: adapt the caller's object to `Graph`, compute the masks (each pruner fits itself where it
was not fitted, makes keys and selects; see `pruners.contract`), rebuild an object of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lsprune import adapters
from lsprune.adapters.base import Kept
from lsprune.checks import check_choice, check_pruner
from lsprune.errors import IsolatedWarning, naming_graph, warn
from lsprune.graph import Graph
from lsprune.kernels import Runtime
from lsprune.kernels import threads as thread_pool
from lsprune.pruners import Pruner
from lsprune.pruners.explanation import Explanation
from lsprune.pruners.placement import own_arrays, where_it_is
from lsprune.pruners.relations import Plan, check_plan, pruners_of, relation_factors, relation_masks


def prune(
    data: Any,
    pruner: Plan,
    *,
    source: Any = None,
    target: Any = None,
    edge_attr: Any = None,
    features: Any = None,
    return_mask: bool = False,
    e_id: bool = False,
    rescale: bool | Literal["unbiased"] = False,
    reverse: Mapping[Any, Any] | None = None,
    threads: int | None = None,
    executor: str | None = None,
) -> Any:
    """Build a new object of the same kind with the edges that `pruner` keeps; the input is never changed.

    Args:
        data: a `Graph`, numpy `[2, E]`, scipy matrix, NetworkX or igraph graph, PyG `Data`, `Batch`, `HeteroData`,
            `TemporalData`, list of `Data` (one by one if they have links to be predicted: those of `RandomLinkSplit`),
            `InMemoryDataset`, `EdgeIndex`, a torch tensor; or a table with a row for each edge: a pandas or Polars
            frame, a PyArrow table or dataset, a DuckDB relation.
        pruner: a pruner; for `HeteroData` also a mapping from edge type to pruner (other relations are not pruned), or
            a `SharedBudget` for all relations together.
        source, target: of a table, the columns with the ids of both ends: whole numbers, text, bytes, dates, categories
            or any hashable objects. Default: source and target, src and dst, s and t, or from and to.
        edge_attr: of a table, the columns that are attributes of edges.
        features: node features `[N, d]` of an object that has none (a matrix, an edge list, a NetworkX graph without
            `x`): an array, a sparse matrix, a tensor or a table of numbers; a pair if sources and targets are
            different nodes. For a table of edges: rows by id, or a table with a column id, node_id or node.
        return_mask: return `(pruned, mask)`.
        e_id: put the positions of the kept edges on the result as `e_id`.
        rescale: multiply edge weights, so that sums over neighbours keep their size. True: by degree / kept of the
            owner, for every pruner; biased where pruners prefer some edges. "unbiased": by one over the chance that
            the edge was kept, so that sums are right on average over seeds; an OptionError says where that is not
            possible (docs/theory.md). It makes the keys a second time.
        reverse: for `HeteroData`, the reverse of a relation where it is not named `rev_` + its name.
        threads: default LSPRUNE_THREADS, else all cores.
        executor: "cpu", "gpu" or "reference"; the same mask whichever. Default: "gpu" for a graph on a GPU, so that no
            tensor leaves it, else "cpu". Where there is no GPU path, the default warns once and prunes on the host;
            "gpu" raises an OptionError.

    >>> import numpy as np
    >>> from lsprune import LocalRandom
    >>> prune(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), LocalRandom(k=2)).shape
    (2, 2)
    """
    check_plan(pruner)
    pruners = pruners_of(pruner)
    check_rescale(rescale, pruners)
    named = [name for one in pruners if isinstance(one, Pruner) for name in one.needs.edge_columns]
    adapter = adapters.find(data).configured(
        source=source, target=target, edge_attr=edge_attr, columns=tuple(dict.fromkeys(named)), features=features
    )
    if adapter.pruned_apart(data):
        same: Any = {"features": features, "reverse": reverse, "threads": threads, "executor": executor}
        pairs = []
        for place, item in enumerate(data):
            with naming_graph(place):
                pairs.append(prune(item, pruner, return_mask=True, e_id=e_id, rescale=rescale, **same))
        results = (tuple if isinstance(data, tuple) else list)(result for result, _ in pairs)
        return (results, [mask for _, mask in pairs]) if return_mask else results

    def pruned(graphs: Mapping[Any, Graph], run: Runtime) -> Any:
        run = replace(run, waiting=[])  # a device need not be waited for before the result is built
        results = relation_masks(graphs, pruner, reverse or {}, run)
        masks = own_arrays(adapter, data, results.masks)
        weights = own_arrays(adapter, data, relation_factors(graphs, results, rescale, run))
        kept = {
            key: Kept(mask=mask, weight=weights.get(key), e_id=e_id, count=results.kept.get(key))
            for key, mask in masks.items()
        }
        with thread_pool.using(run.threads):  # arrays are cut in parallel, without a `threads` argument
            result = adapter.rebuild(data, kept)
        late = run.catch_up()
        _warn_isolated(results.isolated + (late if None in masks else 0))
        return (result, adapter.masks(data, masks)) if return_mask else result

    return where_it_is(adapter, data, pruners, threads, executor, pruned)


def mask(
    data: Any,
    pruner: Plan,
    *,
    source: Any = None,
    target: Any = None,
    edge_attr: Any = None,
    features: Any = None,
    threads: int | None = None,
    executor: str | None = None,
) -> Any:
    """Compute the mask of any kind of graph: an array, a list of arrays (several graphs) or a dict (relations).

    The arguments are those of `prune`.
    """
    told = {"source": source, "target": target, "edge_attr": edge_attr, "features": features}
    if isinstance(pruner, Pruner) and all(value is None for value in told.values()):
        return pruner.mask(data, threads=threads, executor=executor)
    return prune(data, pruner, **told, return_mask=True, threads=threads, executor=executor)[1]


def explain(data: Any, pruner: Pruner, node: int, *, threads: int | None = None) -> Explanation:
    """Explain why each edge that `node` owns was kept or removed; print the result."""
    check_pruner(pruner)
    return pruner.explain(data, node, threads=threads)


def check_rescale(rescale: Any, pruners: list[Pruner]) -> None:
    """Raise OptionError for an unknown value, and for pruners that are known to have no unbiased factors."""
    check_choice("rescale", bool(rescale) if isinstance(rescale, np.bool_) else rescale, (False, True, "unbiased"))
    for pruner in pruners if rescale == "unbiased" else ():
        if isinstance(pruner, Pruner):
            pruner.refuse_biased()


def _warn_isolated(nodes: int) -> None:
    if nodes:
        warn(
            f"pruning left {nodes} node{'s' * (nodes > 1)} without any edge; keep more, or use "
            "Guarded(pruner=..., min_keep=1)",
            IsolatedWarning,
        )
