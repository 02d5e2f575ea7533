"""Perturbed copies of a graph: noise on the attributes, or edges dropped at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lsprune.attributes import is_category
from lsprune.checks import check_number
from lsprune.graph import Array, Graph
from lsprune.measure.adjacency import checked_mask
from lsprune.numeric.random_numbers import draw

DROPOUT = 1 << 20  # what the draws are for: not one of the numbers in `numeric.random_numbers`


def is_vector(values: Any) -> bool:
    """Return whether noise can be added to attributes: to anything but a category."""
    return values is not None and not is_category(values)


def column_deviations(values: Any) -> Array:
    """Return the standard deviation of each column, float32; of each entry, for rows of several dimensions."""
    if not hasattr(values, "tocsr"):
        return np.asarray(np.std(values, axis=0, dtype=np.float64), np.float32)
    rows = values.tocsr().astype(np.float64)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)), np.float32)


def add_noise(values: Any, deviation: Array, size: float, seed: tuple[int, ...]) -> Any:
    """Return attributes plus Gaussian noise of `size` times the deviation of their column, as float32.

    Only the stored entries of a sparse matrix change, so that it stays sparse. For one seed, the noise of two sizes
    differs by a factor alone.
    """
    random = np.random.default_rng(seed)
    if not hasattr(values, "tocsr"):
        noise = random.standard_normal(values.shape, dtype=np.float32)
        return np.asarray(values, np.float32) + np.float32(size) * deviation * noise
    rows = values.tocsr().astype(np.float32, copy=True)
    rows.data += np.float32(size) * deviation[rows.indices] * random.standard_normal(rows.data.shape, dtype=np.float32)
    return rows


def with_noise(graph: Graph, size: float, seed: int) -> Graph:
    """Return the graph with noise on its vectors; categories stay as they are.

    >>> graph = Graph.from_edges(np.array([[0, 1], [1, 0]]), x=np.array([[0.0, 5.0], [1.0, 5.0]]))
    >>> noisy = with_noise(graph, 0.1, seed=0)
    >>> bool((noisy.x != graph.x)[:, 0].all()), noisy.x[:, 1].tolist()  # a constant column has deviation 0
    (True, [5.0, 5.0])
    """
    check_number("noise", size, 0, 1e6)

    def noisy(values: Any, which: int) -> Any:
        if not is_vector(values):
            return values
        return add_noise(values, column_deviations(values), size, (seed, which))

    target = noisy(graph.x_target, 0)
    source = target if graph.x_source is graph.x_target else noisy(graph.x_source, 1)
    return replace(graph, x_source=source, x_target=target, edge_attr=noisy(graph.edge_attr, 2))


def dropout_mask(graph: Graph, share: float, seed: int) -> Array:
    """Return a mask `[E]` that drops a share of the edges at random.

    The two directions of an edge, and parallel edges, are dropped together: an undirected graph stays undirected.
    """
    check_number("dropout", share, 0, 1)
    source, target = graph.ends()
    first, second = (source, target) if graph.bipartite else (np.minimum(source, target), np.maximum(source, target))
    uniform = (draw(int(seed), DROPOUT, first, second) >> np.uint64(11)) * 2.0**-53
    return np.asarray(uniform >= share)


def subgraph(graph: Graph, mask: Array) -> Graph:
    """Return the graph with the edges of a mask, in the same order."""
    source, target = graph.ends()
    mask = checked_mask(mask, graph.num_edges)
    attr = take_rows(graph.edge_attr, mask)
    weight = take_rows(graph.edge_weight, mask)
    named = None if graph.edge_columns is None else {name: rows[mask] for name, rows in graph.edge_columns.items()}
    return replace(
        graph, source=source[mask], target=target[mask], edge_attr=attr, edge_weight=weight, edge_columns=named,
        indptr=None, rows=None,
    )  # fmt: skip


def take_rows(values: Any, rows: Array) -> Any:
    """Return some rows of attributes, by a mask or by number; a sparse matrix of any format becomes CSR."""
    if values is None:
        return None
    return (values.tocsr() if hasattr(values, "tocsr") else values)[rows]
