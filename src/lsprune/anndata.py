"""Neighbourhood graphs of AnnData, as scanpy makes them: `connectivities` and `distances` pruned in step."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.api import prune
from lsprune.errors import GraphError, OptionError
from lsprune.pruners import Pruner

MATRICES = ("connectivities", "distances")


def prune_anndata(
    adata: Any,
    pruner: Pruner,
    *,
    key: str = "neighbors",
    key_added: str | None = None,
    use_rep: str | None = None,
    threads: int | None = None,
) -> None:
    """Prune the neighbourhood graph `key` and store the result beside it, as scanpy stores graphs.

    `adata.uns[key_added]` names the pruned matrices in `adata.obsp`; the graph `key` stays as it is. Weights for
    `TopWeight` are the connectivities. Rows are the observations whose neighbours the columns are, so that
    `side="out"` bounds the neighbours in each row. A distance stays if its entry of the connectivities does, and a
    distance without one stays too.

    Args:
        key: the graph, as in `scanpy.pp.neighbors(key_added=...)`.
        key_added: name of the pruned graph; default `key` + "_pruned".
        use_rep: where the features are that pruners compare: a name of `adata.obsm`, or "X"; default: what `key` was
            computed from, else X_pca if it is there, else X.

    Use the result with `sc.tl.leiden(adata, neighbors_key="neighbors_pruned")`.
    """
    added = f"{key}_pruned" if key_added is None else key_added
    if added == key:
        raise OptionError(f"key_added must differ from key, so that the graph stays, got {added!r}")
    if key not in adata.uns:
        raise GraphError(f"adata.uns has no graph {key!r}; compute one with scanpy.pp.neighbors")
    entry = adata.uns[key]
    names = {kind: entry.get(f"{kind}_key", kind) for kind in MATRICES}
    if names["connectivities"] not in adata.obsp:
        raise GraphError(f"adata.obsp has no matrix {names['connectivities']!r}, which adata.uns[{key!r}] names")
    matrix = adata.obsp[names["connectivities"]].tocsr()
    needs = pruner.needs
    features = _features(adata, entry, use_rep) if needs.owner or needs.neighbour or use_rep is not None else None
    pruned = prune(matrix, pruner, features=features, threads=threads)
    adata.obsp[f"{added}_connectivities"] = pruned
    stored: dict[str, Any] = {"connectivities_key": f"{added}_connectivities", "params": dict(entry.get("params", {}))}
    if names["distances"] in adata.obsp:
        distances = adata.obsp[names["distances"]].tocsr()
        adata.obsp[f"{added}_distances"] = _without(distances, matrix, pruned)
        stored["distances_key"] = f"{added}_distances"
    stored["params"]["pruner"] = repr(getattr(pruner, "options", pruner))
    adata.uns[added] = stored


def _features(adata: Any, entry: Any, use_rep: str | None) -> Any:
    name = use_rep or entry.get("params", {}).get("use_rep")
    if name is None:
        name = "X_pca" if "X_pca" in adata.obsm else "X"
    if name == "X":
        return adata.X
    if name not in adata.obsm:
        raise GraphError(
            f"use_rep must be X or one of {', '.join(adata.obsm) or 'nothing'} in adata.obsm, got {name!r}"
        )
    return np.asarray(adata.obsm[name])


def _without(distances: Any, before: Any, after: Any) -> Any:
    """Return the distances without the entries that were removed between two matrices of connectivities."""
    had, has = np.sort(_places(before)), np.sort(_places(after))
    places, coo = _places(distances), distances.tocoo()
    keep = ~_contains(had, places) | _contains(has, places)
    return type(distances)((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=distances.shape)


def _places(matrix: Any) -> Any:
    """Return one number for the place of each entry, in the order in which COO has them."""
    coo = matrix.tocoo()
    return coo.row.astype(np.int64) * matrix.shape[1] + coo.col


def _contains(numbers: Any, wanted: Any) -> Any:
    place = np.searchsorted(numbers, wanted).clip(0, max(numbers.shape[0] - 1, 0))
    return numbers[place] == wanted if numbers.shape[0] else np.zeros(wanted.shape, bool)
