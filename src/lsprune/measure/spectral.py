"""How well pruning preserves the Laplacian quadratic form, which is what spectral sparsifiers guarantee.

x'Lx is the sum over the edges of weight * (x_s - x_t)^2: how much a signal x on the nodes varies along the edges. A
stored edge has weight 1/2, so an undirected edge, stored in both directions, has weight 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.checks import check_choice, check_count, check_flag
from lsprune.graph import SIDES, Array, Graph
from lsprune.measure.adjacency import checked_mask, numbered_ends
from lsprune.selection.csgraph import components
from lsprune.selection.rescale import owner_factors

SIGNALS_AT_ONCE = 8  # random signals to multiply at a time
MAX_DENSE_NODES = 256  # up to which all eigenvectors are computed
EIGEN_TOLERANCE = 1e-3  # of sparse eigenvectors: a signal has to be smooth, not exact


@dataclass(frozen=True)
class Spectral:
    """|x'L'x - x'Lx| / x'Lx for a pruned graph L': 0 if every signal varies as before. NaN if no signal varies."""

    random_mean: float  # over Gaussian signals
    random_max: float
    lowest_mean: float  # over the smoothest signals of the whole graph
    lowest_max: float


def quadratic_error(
    graph: Graph, mask: Array, *, rescale: bool = False, side: str = "in", vectors: int = 32, lowest: int = 8,
    seed: int = 0,
) -> Spectral:  # fmt: skip
    """Return the relative error of the Laplacian quadratic form after pruning, for random and for smooth signals.

    The smooth ones are the lowest non-trivial eigenvectors of D^-1 L (L x = lambda D x) on the largest component:
    unlike those of L they are not concentrated on a few pendant nodes, and they need no factorisation.

    Args:
        mask: `[E]` True = kept.
        rescale: multiply the weight of kept edges by degree / kept of their owner, as `prune(..., rescale=True)` does.
        side: which end owns an edge.
        vectors: number of random signals.
        lowest: number of eigenvectors; fewer if the component is small.

    >>> ring = Graph.from_edges(np.array([[0, 1, 2, 3], [1, 2, 3, 0]]))
    >>> quadratic_error(ring, np.ones(4, bool))
    Spectral(random_mean=0.0, random_max=0.0, lowest_mean=0.0, lowest_max=0.0)
    """
    check_flag("rescale", rescale)
    check_count("vectors", vectors)
    check_count("lowest", lowest, 0)
    check_choice("side", side, SIDES)
    check_count("seed", seed, 0)
    kept = checked_mask(mask, graph.num_edges)
    weight = owner_factors(graph, kept, side)[kept].astype(np.float64) if rescale else np.ones(int(kept.sum()))
    whole = laplacian(*numbered_ends(graph), np.ones(graph.num_edges), graph.num_nodes)
    pruned = laplacian(*numbered_ends(graph, kept), weight, graph.num_nodes)
    random = np.random.default_rng(seed)
    sizes = (min(SIGNALS_AT_ONCE, vectors - at) for at in range(0, vectors, SIGNALS_AT_ONCE))
    blocks = (random.standard_normal((graph.num_nodes, size)) for size in sizes)
    rough = np.concatenate([_errors(whole, pruned, signals) for signals in blocks])
    smooth = _errors(whole, pruned, smooth_signals(whole, lowest, seed))
    return Spectral(*_mean_and_max(rough), *_mean_and_max(smooth))


def laplacian(source: Array, target: Array, weight: Array, nodes: int) -> Any:
    """Return a CSR matrix `[N, N]`: degrees minus weights, where a stored edge has half its weight in each direction.

    >>> laplacian(np.array([0, 1]), np.array([1, 0]), np.ones(2), 2).toarray().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    from scipy.sparse import csr_array

    rows = np.concatenate([source, target, source, target])
    columns = np.concatenate([target, source, source, target])
    values = np.concatenate([-weight, -weight, weight, weight]) / 2
    result = csr_array((values, (rows, columns)), shape=(nodes, nodes))
    result.sum_duplicates()  # a self-loop adds up to 0
    return result


def smooth_signals(whole: Any, count: int, seed: int) -> Array:
    """Return the lowest non-trivial eigenvectors of D^-1 L on the largest component, `[N, <= count]`; 0 elsewhere."""
    nodes = whole.shape[0]
    degree = whole.diagonal()
    _, member = components(whole)
    inside = np.flatnonzero(member == np.bincount(member).argmax()) if nodes else member
    count = min(count, inside.size - 1)
    if count < 1:
        return np.zeros((nodes, 0))
    root = 1 / np.sqrt(degree[inside])
    vectors = _lowest(whole[inside][:, inside], root, count + 1, seed)[:, 1:]  # the first one is constant
    signals = np.zeros((nodes, vectors.shape[1]))
    signals[inside] = vectors
    return signals


def _lowest(whole: Any, root: Array, count: int, seed: int) -> Array:
    """Return D^-1/2 times the eigenvectors of I - D^-1/2 L D^-1/2 with the largest eigenvalues, largest first."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    nodes = root.size
    scaled = diags_array(np.ones(nodes)) - diags_array(root) @ whole @ diags_array(root)
    if nodes <= max(MAX_DENSE_NODES, 2 * count):
        values, vectors = np.linalg.eigh(scaled.toarray())
    else:
        start = np.random.default_rng(seed).standard_normal(nodes)
        try:
            values, vectors = eigsh(scaled, k=count, which="LA", v0=start, tol=EIGEN_TOLERANCE)
        except ArpackNoConvergence as error:  # those that converged are enough
            values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(values)[::-1][:count]
    return np.asarray(root[:, None] * vectors[:, order])


def _errors(whole: Any, pruned: Any, signals: Array) -> Array:
    """Return the relative error for each signal that varies at all."""
    before, after = ((signals * (form @ signals)).sum(axis=0) for form in (whole, pruned))
    varies = before > 1e-12 * np.maximum((signals**2).sum(axis=0), 1e-300)
    return np.asarray(np.abs(after - before)[varies] / before[varies])


def _mean_and_max(errors: Array) -> tuple[float, float]:
    return (float(errors.mean()), float(errors.max())) if errors.size else (float("nan"), float("nan"))
