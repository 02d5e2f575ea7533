"""Measure whether the labels of neighbours are more similar than chance would have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.graph import Array, Graph
from lsprune.weights.labels import on_host, training_labels

MIN_EDGES = 50  # between training nodes: fewer say nothing
MIN_ASSORTATIVITY = 0.05  # below it, whether both ends have the same label says nothing about an edge
_BLOCK_EDGES = 1 << 16


def labels_are_assortative(graph: Graph) -> bool:
    """Return whether neighbours have similar labels; also if too few training nodes are neighbours to tell.

    Look at the labels of training nodes only.
    """
    return are_assortative(graph, *training_labels(graph)[1:])


def are_assortative(graph: Graph, nodes: Array, labels: Array) -> bool:
    """Return the same of the labels of some nodes; see `assortativity`."""
    coefficient = assortativity(*graph.ends(), graph.num_nodes, nodes, labels)
    return coefficient is None or coefficient >= MIN_ASSORTATIVITY


def assortativity(source: Any, target: Any, num_nodes: int, nodes: Array, labels: Array) -> float | None:
    """Return Newman's assortativity coefficient of the labels: 1 if neighbours have equal ones, 0 if independent ones.

    Of classes it is the share of edges within a class, less what random edges between nodes of these degrees have,
    divided by its maximum ("adjusted homophily"). Of numbers it is their correlation over the edges. Return None if
    there are too few edges between labelled nodes, or if all labels are equal. Self-loops do not count.

    Args:
        source, target: `[E]` ids, also on a device. nodes: `[L]` ids of labelled nodes.
        labels: `[L, outputs]`; classes are rows of one 1.

    >>> ring = np.arange(100)
    >>> round(assortativity(ring, (ring + 1) % 100, 100, ring, np.eye(2)[ring % 2]), 3)
    -1.0
    """
    row = np.full(num_nodes, -1, np.int64)
    row[nodes] = np.arange(nodes.shape[0])
    first, second = row[on_host(source)], row[on_host(target)]
    inner = (first >= 0) & (second >= 0) & (first != second)
    first, second = first[inner], second[inner]
    if first.shape[0] < MIN_EDGES:
        return None
    values = labels.astype(np.float64)
    degree = np.bincount(first, minlength=values.shape[0]) + np.bincount(second, minlength=values.shape[0])
    values -= degree @ values / degree.sum()
    variance = float(degree @ (values * values).sum(1) / degree.sum())
    starts = range(0, first.shape[0], _BLOCK_EDGES)
    blocks = ((values[first[at : at + _BLOCK_EDGES]], values[second[at : at + _BLOCK_EDGES]]) for at in starts)
    covariance = sum(float(np.einsum("ij,ij->", *pair)) for pair in blocks) / first.shape[0]
    return covariance / variance if variance > 0 else None
