"""Which entries of a PyG store are links to be predicted, such as `edge_label_index`; these never decide a mask.

`RandomLinkSplit` stores the links of a split as `edge_label_index` with their `edge_label`, or as
`pos_edge_label_index` and `neg_edge_label_index`; with `key="rating"`, as `rating_index` and `rating`.
"""

from __future__ import annotations

from typing import Any

from lsprune.errors import LinkSplitWarning, warn

Store = Any  # a BaseStorage of PyG
_SUFFIX = "_index"
_MARK = "_pruned_by_lsprune"


def link_names(store: Store) -> list[str]:
    """Return the names of entries that hold links `[2, L]` to be predicted."""
    names = [key.removesuffix(_SUFFIX) for key in store if key.endswith(_SUFFIX) and key != "edge_index"]
    return [key + _SUFFIX for key in names if is_link_label(store, key)]


def is_link_label(store: Store, key: str) -> bool:
    """Return whether an entry is about links to be predicted, and not about the edges of the store."""
    if "edge_label" in key:
        return True
    labels, links = store.get(key), store.get(key + _SUFFIX)
    shape = getattr(links, "shape", ())
    return key != "edge" and labels is not None and len(shape) == 2 and tuple(shape) == (2, _length(labels))


def _length(labels: Any) -> int | None:
    shape = getattr(labels, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(labels) if hasattr(labels, "__len__") else None


def mark_pruned(store: Store) -> None:
    """Note on a store, which must be our copy, that edges were removed from it before any links were split off.

    The note is a private attribute of PyG's store: copies keep it, and it is no attribute of the data.
    """
    if not link_names(store):
        setattr(store, _MARK, True)


def is_pruned_before_split(store: Store) -> bool:
    """Return whether links were split off after pruning. A batch of a loader has its links from elsewhere."""
    return _MARK in vars(store) and bool(link_names(store)) and "input_id" not in store


def warn_pruned_before_split(store: Store) -> None:
    """Warn if links were split off after pruning."""
    if is_pruned_before_split(store):
        warn(f"the graph was pruned before its links were split: {SPLIT_FIRST}", LinkSplitWarning)


SPLIT_FIRST = (
    "edges that were removed can be neither training nor test links, so that the test is not that of the whole graph; "
    "split first, then prune the edges that messages pass along"
)
