"""The labels that `choose` may look at, and who teaches, who trains the probe and who is judged.

Test labels are never read: with `train_mask` and `val_mask`, only labels of these nodes are; with `train_mask` alone,
only those of training nodes; without masks, all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.chooser.metrics import METRICS, ROC_AUC, Metric
from lsprune.errors import GraphError
from lsprune.graph import Array, Graph
from lsprune.graph_arrays import mask_fault
from lsprune.numeric.random_numbers import CHOOSE, draw
from lsprune.weights.labels import on_host, sorted_labels

JUDGED_SHARE = 3  # without validation nodes, every third labelled node is judged
MIN_JUDGED = 20  # fewer say nothing


@dataclass(frozen=True, eq=False)
class Round:
    """One of two rounds: a teacher (`weights="labels"`) and the probe never see the same labels.

    Args:
        teaching: [items] bool, whose labels a teacher may look at.
        training: places in `KnownLabels.items` that the probe is trained on.
    """

    teaching: Array
    training: Array


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """Labels of nodes, or of whole graphs.

    Args:
        level: "nodes" or "graphs". kind: "classes", "labels" (several a node) or "numbers".
        items: the nodes or graphs whose labels may be looked at. targets: their labels, `[items, outputs]` float32.
        judged: places in `items` that are judged. rounds: the two halves of the others, in turns.
        training: [nodes or graphs] bool, whose labels the pruner that is chosen may learn from: no validation nodes.
    """

    level: str
    kind: str
    items: Array
    targets: Array
    judged: Array
    rounds: tuple[Round, Round]
    training: Array

    @property
    def metric(self) -> Metric:
        """What scores mean; of two classes the ROC AUC, since accuracy says little if one of them is rare."""
        two = self.kind == "classes" and self.targets.shape[1] == 2
        return ROC_AUC if two and np.unique(self.targets[self.judged, 1]).size == 2 else METRICS[self.kind]

    def as_y(self, count: int) -> Array:
        """Return the labels as `y` of a graph with `count` nodes; the labels that may not be looked at are missing."""
        if self.kind == "classes":
            classes = np.full(count, -1, np.int64)
            classes[self.items] = self.targets.argmax(1)
            return classes
        rows = np.full((count, self.targets.shape[1]), np.nan, np.float32)
        rows[self.items] = self.targets
        return rows


def known_labels(data: Any, graph: Graph, given: dict[str, Any], seed: int) -> KnownLabels | None:
    """Return what may be known of the labels of `data`; None if it has none.

    Args:
        given: y, train_mask and val_mask as the caller passed them; None: those of `data`.
    """
    found = {name: value if value is not None else _of(data, name) for name, value in given.items()}
    if found["y"] is None:
        found["y"] = graph.y
    if found["y"] is None:
        return None
    y = np.asarray(on_host(found["y"]))
    level, count = _level(y, graph)
    train, val = (_mask(found[name], name, count) for name in ("train_mask", "val_mask"))
    if val is not None and train is None:
        raise GraphError("val_mask needs train_mask beside it: it is not known which other labels may be looked at")
    judged = None if val is None or train is None else val & ~train
    seen = np.ones(count, bool) if train is None else train if judged is None else train | judged
    if not seen.any():
        return None
    kind, items, targets = sorted_labels(y, np.flatnonzero(seen))
    places = _judged_places(kind, items, targets, judged, seed)
    if places.shape[0] < MIN_JUDGED or items.shape[0] - places.shape[0] < 4:
        return None
    rounds = _rounds(kind, items, targets, places, count, seed)
    return KnownLabels(level, kind, items, targets, places, rounds, seen if judged is None else seen & ~judged)


def states_labels(data: Any, graph: Graph, y: Any) -> bool:
    """Return whether there are labels at all, usable or not."""
    return y is not None or graph.y is not None or _of(data, "y") is not None


def empty_masks(data: Any, given: dict[str, Any]) -> list[str]:
    """Return which of train_mask and val_mask, as passed or of `data`, are there and select no node."""
    names = ("train_mask", "val_mask")
    found = {name: given[name] if given[name] is not None else _of(data, name) for name in names}
    return [name for name, mask in found.items() if mask is not None and not np.any(on_host(mask))]


def _of(data: Any, name: str) -> Any:
    """Return an entry of a PyG object, or those of a list of objects one after the other; None if there is none.

    Raise GraphError if only some graphs of a list have a mask: without it, all their labels would be looked at.
    """
    if name != "y" and isinstance(data, Sequence):
        there = sum(getattr(one, name, None) is not None for one in data)
        if 0 < there < len(data):
            raise GraphError(f"{name} must be on every graph of the list or on none, got {there} of {len(data)}")
    if isinstance(data, Sequence) and data and all(getattr(one, name, None) is not None for one in data):
        rows = [np.asarray(on_host(getattr(one, name))) for one in data]
        return np.concatenate([row.reshape(1) if row.ndim == 0 else row for row in rows])
    return None if isinstance(data, Sequence) else getattr(data, name, None)


def _level(y: Array, graph: Graph) -> tuple[str, int]:
    """Return whether labels are of nodes or of graphs, and how many rows they must have."""
    if y.ndim and y.shape[0] == graph.num_nodes:
        return "nodes", graph.num_nodes
    if y.ndim and graph.num_graphs > 1 and y.shape[0] == graph.num_graphs:
        return "graphs", graph.num_graphs
    rows = f"{graph.num_nodes} rows (nodes)" + f" or {graph.num_graphs} (graphs)" * (graph.num_graphs > 1)
    raise GraphError(f"y must have {rows}, got {list(y.shape)}")


def _mask(values: Any, name: str, count: int) -> Array | None:
    if values is None:
        return None
    mask = np.asarray(on_host(values))
    if fault := mask_fault(mask, name, count):
        raise GraphError(fault)
    return mask.astype(bool)


def _judged_places(kind: str, items: Array, targets: Array, judged: Array | None, seed: int) -> Array:
    if judged is not None:
        return np.flatnonzero(judged[items])
    return np.flatnonzero(_turns(kind, items, targets, seed) % JUDGED_SHARE == JUDGED_SHARE - 1)


def _rounds(
    kind: str, items: Array, targets: Array, judged: Array, count: int, seed: int
) -> tuple[Round, Round]:  # fmt: skip
    """Return the rounds: each half of what is not judged teaches once and trains the probe once."""
    rest = np.setdiff1d(np.arange(items.shape[0]), judged)
    first = _turns(kind, items[rest], targets[rest], seed + 1) % 2 == 0
    halves = rest[first], rest[~first]

    def teaching(half: Array) -> Array:
        mask = np.zeros(count, bool)
        mask[items[half]] = True
        return mask

    return Round(teaching(halves[0]), halves[1]), Round(teaching(halves[1]), halves[0])


def _turns(kind: str, items: Array, targets: Array, seed: int) -> Array:
    """Number the items in the order of a hash; of classes, within each class."""
    group = targets.argmax(1) if kind == "classes" else np.zeros(items.shape[0], np.int64)
    order = np.lexsort((draw(seed, CHOOSE, items), group))
    turn = np.empty(items.shape[0], np.int64)
    turn[order] = np.arange(items.shape[0]) - np.searchsorted(group[order], group[order])
    return turn
