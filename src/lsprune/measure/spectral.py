"""How well a pruned graph stands in for the whole one in the Laplacian quadratic form, as spectral sparsifiers promise.

x'Lx is the sum over the edges of weight * (x_s - x_t)^2: how much a signal x on the nodes varies along the edges. A
stored edge weighs 1/2, so an undirected edge, stored in both directions, weighs 1; removing one direction takes half of
it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import SIDES, Array, Graph
from lsprune.measure.adjacency import checked_mask, one_range
from lsprune.measure.noise import check_count
from lsprune.selection.csgraph import components
from lsprune.selection.rescale import owner_factors

BLOCK = 8  # random signals at a time
DENSE = 256  # nodes up to which all eigenvectors are computed
TOLERANCE = 1e-3  # of the others: a signal has to be smooth, not exact


@dataclass(frozen=True)
class Spectral:
    """|x'L'x - x'Lx| / x'Lx for a pruned graph L': 0 if every signal varies as before. NaN where no signal varies."""

    random_mean: float  # over Gaussian signals
    random_max: float
    lowest_mean: float  # over the smoothest signals of the whole graph
    lowest_max: float


def quadratic_error(
    graph: Graph, mask: Array, *, rescale: bool = False, side: str = "in", vectors: int = 32, lowest: int = 8,
    seed: int = 0,
) -> Spectral:  # fmt: skip
    """The relative error of the Laplacian quadratic form after pruning, for random and for smooth signals.

    The smooth ones are the lowest non-trivial eigenvectors of D^-1 L (L x = lambda D x) on the largest component:
    unlike those of L they do not gather on a few pendant nodes, and they need no factorisation.

    Args:
        mask: `[E]` True = kept.
        rescale: kept edges weigh degree / kept of their owner, as `prune(..., rescale=True)` has it; `side`: which end
            owns an edge.
        vectors: number of random signals.
        lowest: number of eigenvectors, as far as the component has so many.

    >>> ring = Graph.from_edges(np.array([[0, 1, 2, 3], [1, 2, 3, 0]]))
    >>> quadratic_error(ring, np.ones(4, bool))
    Spectral(random_mean=0.0, random_max=0.0, lowest_mean=0.0, lowest_max=0.0)
    """
    check_count("vectors", vectors)
    check_count("lowest", lowest, 0)
    if side not in SIDES:
        raise OptionError(f'side must be "in" or "out", got {side!r}')
    check_count("seed", seed, 0)
    kept = checked_mask(mask, graph.num_edges)
    weight = owner_factors(graph, kept, side)[kept].astype(np.float64) if rescale else np.ones(int(kept.sum()))
    whole = laplacian(*one_range(graph), np.ones(graph.num_edges), graph.num_nodes)
    pruned = laplacian(*one_range(graph, kept), weight, graph.num_nodes)
    random = np.random.default_rng(seed)
    blocks = (random.standard_normal((graph.num_nodes, min(BLOCK, vectors - at))) for at in range(0, vectors, BLOCK))
    rough = np.concatenate([_errors(whole, pruned, signals) for signals in blocks])
    smooth = _errors(whole, pruned, smooth_signals(whole, lowest, seed))
    return Spectral(*_mean_and_max(rough), *_mean_and_max(smooth))


def laplacian(source: Array, target: Array, weight: Array, nodes: int) -> Any:
    """CSR `[N, N]`: degrees minus weights, where a stored edge gives half its weight to either direction.

    >>> laplacian(np.array([0, 1]), np.array([1, 0]), np.ones(2), 2).toarray().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    from scipy.sparse import csr_array

    rows = np.concatenate([source, target, source, target])
    columns = np.concatenate([target, source, source, target])
    values = np.concatenate([-weight, -weight, weight, weight]) / 2
    made = csr_array((values, (rows, columns)), shape=(nodes, nodes))
    made.sum_duplicates()  # a self-loop adds up to 0
    return made


def smooth_signals(whole: Any, count: int, seed: int) -> Array:
    """The lowest non-trivial eigenvectors of D^-1 L on the largest component, `[N, <= count]`; 0 on all other nodes."""
    nodes = whole.shape[0]
    degree = whole.diagonal()
    _, member = components(whole)
    inside = np.flatnonzero(member == np.bincount(member).argmax()) if nodes else member
    count = min(count, inside.size - 1)
    if count < 1:
        return np.zeros((nodes, 0))
    root = 1 / np.sqrt(degree[inside])
    found = _lowest(whole[inside][:, inside], root, count + 1, seed)[:, 1:]  # the first one is constant
    signals = np.zeros((nodes, found.shape[1]))
    signals[inside] = found
    return signals


def _lowest(whole: Any, root: Array, count: int, seed: int) -> Array:
    """D^-1/2 times the eigenvectors of I - D^-1/2 L D^-1/2 with the largest eigenvalues, largest first."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    nodes = root.size
    scaled = diags_array(np.ones(nodes)) - diags_array(root) @ whole @ diags_array(root)
    if nodes <= max(DENSE, 2 * count):
        values, vectors = np.linalg.eigh(scaled.toarray())
    else:
        start = np.random.default_rng(seed).standard_normal(nodes)
        try:
            values, vectors = eigsh(scaled, k=count, which="LA", v0=start, tol=TOLERANCE)
        except ArpackNoConvergence as error:  # those that it found will do
            values, vectors = error.eigenvalues, error.eigenvectors
    order = np.argsort(values)[::-1][:count]
    return np.asarray(root[:, None] * vectors[:, order])


def _errors(whole: Any, pruned: Any, signals: Array) -> Array:
    """The relative error for each signal that varies at all."""
    before, after = ((signals * (one @ signals)).sum(axis=0) for one in (whole, pruned))
    varies = before > 1e-12 * np.maximum((signals**2).sum(axis=0), 1e-300)
    return np.asarray(np.abs(after - before)[varies] / before[varies])


def _mean_and_max(errors: Array) -> tuple[float, float]:
    return (float(errors.mean()), float(errors.max())) if errors.size else (float("nan"), float("nan"))
