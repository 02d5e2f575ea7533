"""From any kind of graph to masks and back: `prune`, `mask` and `explain`.

`prune` reads top to bottom: adapt the caller's object to `Graph`, compute the masks (each pruner fits itself where it
was not fitted, makes keys and selects; see `pruners.contract`), rebuild an object of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprune import adapters
from lsprune.adapters.base import Kept
from lsprune.errors import IsolatedWarning, warn
from lsprune.kernels import runtime
from lsprune.kernels import threads as thread_pool
from lsprune.pruners import Pruner
from lsprune.pruners.explanation import Explanation
from lsprune.pruners.relations import Plan, relation_masks
from lsprune.selection.rescale import owner_factors


def prune(
    data: Any,
    pruner: Plan,
    *,
    return_mask: bool = False,
    e_id: bool = False,
    rescale: bool = False,
    reverse: Mapping[Any, Any] | None = None,
    threads: int | None = None,
    executor: str | None = None,
) -> Any:
    """Build a new object of the same kind with the edges that `pruner` keeps; the input is never changed.

    Args:
        data: a `Graph`, numpy `[2, E]`, scipy matrix, NetworkX graph, PyG `Data`, `Batch`, `HeteroData`, list of
            `Data`, `InMemoryDataset`, `EdgeIndex`, or a torch tensor.
        pruner: a pruner; for `HeteroData` also a mapping from edge type to pruner (other relations are not pruned).
        return_mask: return `(pruned, mask)`.
        e_id: put the positions of the kept edges on the result as `e_id`.
        rescale: multiply edge weights by degree / kept of their owner, so that sums keep their size.
        reverse: for `HeteroData`, the reverse of a relation where it is not named `rev_` + its name.
        threads: default LSPRUNE_THREADS, else all cores.
        executor: "cpu" (default), "gpu" (the nearest words of `Codebook` on a CUDA device if they are at most 16,384 or
            `exact`, all else as "cpu") or "reference"; the same mask whichever.

    >>> import numpy as np
    >>> from lsprune import LocalRandom
    >>> prune(np.array([[0, 1, 2, 3], [4, 4, 4, 4]]), LocalRandom(k=2)).shape
    (2, 2)
    """
    adapter, run = adapters.find(data), runtime(threads, executor)
    graphs = adapter.graphs(data)
    results = relation_masks(graphs, pruner, reverse or {}, run)
    kept = {
        key: Kept(
            mask=mask, weight=owner_factors(graphs[key], mask, *results.rules[key]) if rescale else None, e_id=e_id
        )
        for key, mask in results.masks.items()
    }
    with thread_pool.using(run.threads):  # arrays are cut in parallel, without a `threads` argument
        result = adapter.rebuild(data, kept)
    _warn_isolated(results.isolated)
    return (result, adapter.masks(data, results.masks)) if return_mask else result


def mask(data: Any, pruner: Pruner, *, threads: int | None = None, executor: str | None = None) -> Any:
    """Compute the mask of any kind of graph: an array, a list of arrays (several graphs) or a dict (relations)."""
    return pruner.mask(data, threads=threads, executor=executor)


def explain(data: Any, pruner: Pruner, node: int, *, threads: int | None = None) -> Explanation:
    """Explain why each edge that `node` owns was kept or removed; print the result."""
    return pruner.explain(data, node, threads=threads)


def _warn_isolated(nodes: int) -> None:
    if nodes:
        warn(
            f"pruning left {nodes} node{'s' * (nodes > 1)} without any edge; keep more, or use "
            "Guarded(pruner=..., min_keep=1)",
            IsolatedWarning,
        )
