"""Copies of a graph that differ a little: noise on the attributes, or some edges less."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array, Graph
from lsprune.measure.adjacency import checked_mask
from lsprune.numeric.random_numbers import draw

DROPOUT = 1 << 20  # what the draws are for: far from the numbers of `kernels.mix`


def is_vector(values: Any) -> bool:
    """Whether attributes can be a little different: anything but an integer column, which is a category."""
    if values is None:
        return False
    return hasattr(values, "tocsr") or values.dtype.kind not in "iu" or values[:1].size > 1


def spreads(values: Any) -> Array:
    """The standard deviation of each column (of each place in a row, for rows of several dimensions), float32."""
    if not hasattr(values, "tocsr"):
        return np.asarray(np.std(values, axis=0, dtype=np.float64), np.float32)
    rows = values.tocsr().astype(np.float64)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)), np.float32)


def shaken(values: Any, spread: Array, size: float, seed: tuple[int, ...]) -> Any:
    """Attributes plus Gaussian noise of `size` times the spread of their column, as float32.

    Of a sparse matrix only the stored entries move, so that it stays sparse. For one seed the noise of two sizes
    differs by a factor alone.
    """
    random = np.random.default_rng(seed)
    if not hasattr(values, "tocsr"):
        noise = random.standard_normal(values.shape, dtype=np.float32)
        return np.asarray(values, np.float32) + np.float32(size) * spread * noise
    rows = values.tocsr().astype(np.float32, copy=True)
    rows.data += np.float32(size) * spread[rows.indices] * random.standard_normal(rows.data.shape, dtype=np.float32)
    return rows


def with_noise(graph: Graph, size: float, seed: int) -> Graph:
    """The graph with noise on its vectors; categories stay as they are.

    >>> graph = Graph.from_edges(np.array([[0, 1], [1, 0]]), x=np.array([[0.0, 5.0], [1.0, 5.0]]))
    >>> moved = with_noise(graph, 0.1, seed=0)
    >>> bool((moved.x != graph.x)[:, 0].all()), moved.x[:, 1].tolist()  # a constant column has no spread
    (True, [5.0, 5.0])
    """
    check_number("noise", size, 0, 1e6)

    def moved(values: Any, which: int) -> Any:
        return shaken(values, spreads(values), size, (seed, which)) if is_vector(values) else values

    target = moved(graph.x_target, 0)
    source = target if graph.x_source is graph.x_target else moved(graph.x_source, 1)
    return replace(graph, x_source=source, x_target=target, edge_attr=moved(graph.edge_attr, 2))


def surviving(graph: Graph, share: float, seed: int) -> Array:
    """True for the edges `[E]` that are left when a share is dropped at random.

    The two directions of an edge, and parallel edges, go together: an undirected graph stays one.
    """
    check_number("dropout", share, 0, 1)
    source, target = graph.ends()
    first, second = (source, target) if graph.bipartite else (np.minimum(source, target), np.maximum(source, target))
    chance = (draw(int(seed), DROPOUT, first, second) >> np.uint64(11)) * 2.0**-53
    return np.asarray(chance >= share)


def subgraph(graph: Graph, mask: Array) -> Graph:
    """The graph with the edges of a mask, in the same order."""
    source, target = graph.ends()
    mask = checked_mask(mask, graph.num_edges)
    attr = picked(graph.edge_attr, mask)
    return replace(graph, source=source[mask], target=target[mask], edge_attr=attr, indptr=None, rows=None)


def picked(values: Any, rows: Array) -> Any:
    """Some rows of attributes, by a mask or by number; a sparse matrix of whatever format becomes CSR."""
    if values is None:
        return None
    return (values.tocsr() if hasattr(values, "tocsr") else values)[rows]


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise unless an option is a number in [least, most]."""
    kind = (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
        raise OptionError(f"{name} must be a number in [{least:g}, {most:g}], got {value!r}")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise unless an option is a whole number >= least."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"{name} must be a whole number >= {least}, got {value!r}")
