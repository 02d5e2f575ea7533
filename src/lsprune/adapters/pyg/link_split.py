"""A check that no held-out link is an edge that messages pass along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from torch_geometric.data import Data, HeteroData

from lsprune.adapters.base import Key
from lsprune.adapters.pyg.data import DataAdapter, HeteroDataAdapter
from lsprune.adapters.pyg.link_labels import link_names
from lsprune.adapters.pyg.stores import Store
from lsprune.adapters.pyg.tensors import view
from lsprune.errors import GraphError
from lsprune.graph import Array

HELD_OUT = {"train": ("val", "test"), "val": ("val", "test"), "test": ("test",)}  # whose links a split must not have
_ID_BITS = 32  # an edge is one number: source in the upper half, target in the lower


def check_link_split(
    train: Any, val: Any, test: Any, *, directed: bool = False, reverse: Mapping[Any, Any] | None = None
) -> None:
    """Raise GraphError if a held-out link is an edge that messages pass along; warn if edges were pruned too early.

    `train` and `val` must have no links of `val` and `test` among their edges, and `test` none of its own. Links
    with the label 0 are negative and not looked for. It cannot be seen that a graph was pruned before it was split if
    it went through a file, a batch or a dataset in between.

    Args:
        train, val, test: what `RandomLinkSplit` returned, pruned or not: `Data` or `HeteroData`.
        directed: the reverse of a held-out link is an edge like any other. Default: it gives the link away.
        reverse: for `HeteroData`, the reverse of a relation where it is not named `rev_` + its name.

    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from torch_geometric.transforms import RandomLinkSplit
    >>> from lsprune import LSP, prune
    >>> ring = torch.stack([torch.arange(20), torch.arange(1, 21) % 20])
    >>> whole = Data(x=torch.eye(20), edge_index=ring)
    >>> check_link_split(*prune(RandomLinkSplit(0.1, 0.2)(whole), LSP(keep=0.5)))
    """
    splits = {"train": train, "val": val, "test": test}
    if len({isinstance(split, HeteroData) for split in splits.values()}) > 1 or not all(
        isinstance(split, (Data, HeteroData)) for split in splits.values()
    ):
        kinds = ", ".join(type(split).__name__ for split in splits.values())
        raise GraphError(f"train, val and test must be three Data or three HeteroData, got {kinds}")
    links = {name: dict(_links(split)) for name, split in splits.items()}
    if not links["val"] and not links["test"]:
        raise GraphError(
            "val or test must have links to be predicted (edge_label_index), got none; see RandomLinkSplit"
        )
    for name, split in splits.items():
        edges = _edges(split)  # this warns of edges that were pruned too early
        for other in HELD_OUT[name]:
            for key, held_out in links[other].items():
                for found, relation in _places(edges, key, directed, reverse or {}):
                    _check(held_out, found, f"edges of {name}{relation}", f"links held out in {other}")


def _check(links: Array, edges: Array, where: str, what: str) -> None:
    leaked = links[np.isin(links, edges)]
    if leaked.size:
        example = (int(leaked[0]) >> _ID_BITS, int(leaked[0]) & (2**_ID_BITS - 1))
        raise GraphError(
            f"{where} must not have {what}, got {leaked.size} of {links.size}, such as {example}; for an undirected "
            "graph, RandomLinkSplit needs is_undirected=True, or rev_edge_types for HeteroData"
        )


def _places(
    edges: Mapping[Key, tuple[Array, Array]], key: Any, directed: bool, reverse: Mapping[Any, Any]
) -> Iterator[tuple[Array, str]]:
    """Iterate over the edges that may hold a link of a relation, as numbers, turned round where need be."""
    name = "" if key is None else f" {key}"
    if key in edges:
        yield _numbers(*edges[key]), name
    if directed:
        return
    if key in edges and (key is None or key[0] == key[2]):
        yield _numbers(*edges[key][::-1]), f"{name}, turned round,"
    turned = {**{other: key for key, other in reverse.items()}, **reverse}
    other = None if key is None else turned.get(key, (key[2], f"rev_{key[1]}", key[0]))
    if other is not None and other in edges:
        yield _numbers(*edges[other][::-1]), f" {other}"


def _edges(split: Any) -> dict[Key, tuple[Array, Array]]:
    adapter = HeteroDataAdapter() if isinstance(split, HeteroData) else DataAdapter()
    return {key: graph.ends() for key, graph in adapter.graphs(split).items()}


def _links(split: Any) -> Iterator[tuple[Key, Array]]:
    """Iterate over the relations with links to be predicted, with their positive links as numbers."""
    for store in split.stores:
        parts = [_positive(store, name) for name in link_names(store)]
        if parts:
            yield store._key, np.concatenate(parts)


def _positive(store: Store, name: str) -> Array:
    """Return the positive links of one entry: those with a label that is not 0, or all if there is no such label."""
    if name.startswith("neg_"):
        return np.empty(0, dtype=np.int64)
    numbers = _numbers(*view(store[name]))
    labels = store.get(name.removesuffix("_index"))
    if labels is None or name.startswith("pos_") or not numbers.shape[0]:
        return numbers
    positive = (view(labels).reshape(numbers.shape[0], -1) != 0).any(1)
    return numbers[positive] if positive.any() else numbers


def _numbers(source: Array, target: Array) -> Array:
    numbers: Array = (source.astype(np.int64) << _ID_BITS) | target.astype(np.int64)
    return numbers
