"""Random splits of nodes and graphs, drawn from counters: the same on every machine and with any numpy version."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import torch

from lsprune.graph import Array
from lsprune.lab.node_splits import MASKS
from lsprune.numeric.random_numbers import draw

KNOWN = "known_mask"  # of a heterogeneous graph: the nodes whose labels may be used
_SPLIT_STREAM = 1001  # stream of random numbers; pruners use smaller numbers


def split_positions(count: int, sizes: tuple[int, int], seed: int) -> list[Array]:
    """Return sorted positions of train, validation and test: the first two of these sizes, and the rest."""
    order = np.argsort(draw(seed, _SPLIT_STREAM, np.arange(count)), kind="stable")
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes))]


def split_nodes(nodes: Array, seed: int, train: int = 60, val: int = 20) -> list[Array]:
    """Return parts of these nodes for training, validation and test: 60, 20 and 20 % by default.

    Args:
        train, val: per cent of the nodes; the rest is for testing.

    >>> [part.tolist() for part in split_nodes(np.arange(10), 0)]
    [[1, 2, 3, 4, 7, 8], [0, 6], [5, 9]]
    """
    count = len(nodes)
    return [nodes[part] for part in split_positions(count, (count * train // 100, count * val // 100), seed)]


def labelled_kind(graph: Any) -> str:
    """Return the kind of nodes of a `HeteroData` that has labels `y`."""
    return next(str(kind) for kind in graph.node_types if "y" in graph[kind])


def split_known_labels(graph: Any, seed: int) -> Any:
    """Return the `HeteroData` with masks over 40, 20 and 40 % of the nodes whose labels may be used (`known_mask`)."""
    graph = copy(graph)
    nodes = graph[labelled_kind(graph)]
    known = nodes[KNOWN].nonzero()[:, 0].numpy()
    for key, part in zip(MASKS, split_nodes(known, seed, train=40, val=20), strict=True):
        nodes[key] = torch.zeros_like(nodes[KNOWN])
        nodes[key][torch.from_numpy(part)] = True
    return graph
