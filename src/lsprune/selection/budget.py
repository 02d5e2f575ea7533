"""Where `keep` and `PerNode` become quotas: how many edges each owner keeps; with `keep`, met to the edge.

With `keep`, target = floor(keep * E + 0.5); every owner gets the largest k with sum of min(k, degree) <= target; the
remainder goes one each to owners in the order of splitmix64(seed, owner id).
"""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array, Graph, oriented
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.selection.owners import BLOCK_OWNERS, local_ids
from lsprune.selection.rules import SelectionRules


def target_count(keep: float, edges: Array) -> Array:
    """Return floor(keep * edges + 0.5) for each graph."""
    return np.floor(keep * edges.astype(np.float64) + 0.5).astype(np.int64)


def quotas(indptr: Array, graph: Graph, rules: SelectionRules, runtime: Runtime) -> Array:
    """Return the most edges that each owner keeps, `[owners]` int64: k, what meets `keep` exactly, or `PerNode`."""
    quota = runtime.zeros(indptr.shape[0] - 1, np.int64)
    if rules.k is not None:
        quota[:] = rules.k
        return quota
    if rules.budget is not None:
        for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
            quota[lo:hi] = rules.budget.of_owners(indptr, lo, hi)
        rules.budget.check_owners(quota.shape[0])
        return quota
    assert rules.keep is not None
    ptr = oriented(rules.side, graph.source_ptr, graph.target_ptr)[0]
    if ptr is None or rules.pooled:
        local = local_ids(ptr, quota.shape[0]) if graph.ids is None else oriented(rules.side, *graph.ids)[0]
        _fill_quotas(indptr, rules.keep, local, rules.seed, quota, runtime)
        return quota
    degree, graphs = np.diff(indptr), max(int(ptr.shape[0]) - 1, 1)
    member = np.repeat(np.arange(ptr.shape[0] - 1), np.diff(ptr))
    target = target_count(rules.keep, _sums(degree, member, graphs))
    level = _levels(degree, member, target)
    quota += level[member]
    left = target - _sums(np.minimum(quota, degree), member, graphs)
    quota += _first_owners(degree > quota, member, left, local_ids(ptr, degree.shape[0]), rules.seed)
    return quota


def _sums(values: Array, member: Array, graphs: int) -> Array:
    out = np.zeros(graphs, np.int64)
    np.add.at(out, member, values)
    return out


def _levels(degree: Array, member: Array, target: Array) -> Array:
    """Return the largest k of each graph with sum of min(k, degree) <= target, by bisection in all at once."""
    graphs = target.shape[0]
    low, high = np.zeros(graphs, np.int64), np.full(graphs, int(degree.max(initial=0)), np.int64)
    while np.any(low < high):
        middle = (low + high + 1) // 2
        fits = _sums(np.minimum(degree, middle[member]), member, graphs) <= target
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low


def _fill_quotas(indptr: Array, keep: float, local: Array | None, seed: int, quota: Array, runtime: Runtime) -> None:
    """Fill in the quotas of one graph, a block of owners at a time to bound memory."""
    degrees, counts = _degree_counts(indptr)
    level, left = split_budget(keep, degrees, counts)
    quota[:] = level
    if left:
        _give_remainder(indptr, level, left, int(counts[degrees > level].sum()), local, seed, quota, runtime)


def split_budget(keep: float, degrees: Array, counts: Array) -> tuple[int, int]:
    """Return (edges that every owner keeps, owners that keep one more) in one graph.

    Args:
        degrees: those that occur, in any order. counts: how often each does.
    """
    order = np.argsort(degrees)
    target = target_count(keep, np.array([(degrees * counts).sum()]))
    return level_of_target(int(target[0]), degrees[order], counts[order])


def level_of_target(target: int, degrees: Array, counts: Array) -> tuple[int, int]:
    """Return the largest k with sum of min(k, degree) <= target, and what is left of the target.

    `degrees` ascend. For a k that is one of them the sum follows from cumulated counts; from there to the next degree
    it grows by the number of owners of more edges.
    """
    above = counts.sum() - np.cumsum(counts)  # owners of more edges than each degree
    sums = np.cumsum(degrees * counts) + degrees * above
    place = int(np.searchsorted(sums, target, side="right")) - 1
    level, kept = (int(degrees[place]), int(sums[place])) if place >= 0 else (0, 0)
    owners = int(above[place]) if place >= 0 else int(counts.sum())
    more = (target - kept) // owners if owners else 0
    return level + more, target - kept - more * owners


def _give_remainder(
    indptr: Array, level: int, left: int, candidates: int, local: Array | None, seed: int, quota: Array,
    runtime: Runtime,
) -> None:  # fmt: skip
    """Add one to the quota of the `left` owners of more than `level` edges that come first by hash, then id."""
    hashed = runtime.zeros(candidates, np.uint64)

    def candidates_in(lo: int, hi: int) -> tuple[Array, Array]:
        owners = np.flatnonzero(np.diff(indptr[lo : hi + 1]) > level) + lo
        return owners, draw(seed, OWNER, owners if local is None else local[owners])

    at = 0
    for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
        draws = candidates_in(lo, hi)[1]
        hashed[at : at + draws.shape[0]] = draws
        at += draws.shape[0]
    hashed.partition(left - 1)
    last = hashed[left - 1]
    equal = left - int(np.count_nonzero(hashed[:left] < last))  # owners with the last hash that still fit, by id
    for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
        owners, draws = candidates_in(lo, hi)
        same = np.flatnonzero(draws == last)
        quota[owners[draws < last]] += 1
        quota[owners[same[:equal]]] += 1
        equal -= min(equal, same.shape[0])


def _degree_counts(indptr: Array) -> tuple[Array, Array]:
    """Return the degrees that occur, and how often."""
    blocks = [
        np.unique(np.diff(indptr[lo : hi + 1]), return_counts=True)
        for lo, hi in spans(indptr.shape[0] - 1, BLOCK_OWNERS)
    ]
    if not blocks:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    degrees, place = np.unique(np.concatenate([degree for degree, _ in blocks]), return_inverse=True)
    counts = np.zeros(degrees.shape, np.int64)
    np.add.at(counts, place, np.concatenate([count for _, count in blocks]))
    return degrees, counts


def _first_owners(candidate: Array, member: Array, left: Array, local: Array | None, seed: int) -> Array:
    """Return 1 for the left[g] owners of each graph that come first by splitmix64(seed, owner id), then id."""
    assert local is not None
    extra = np.zeros(candidate.shape, np.int64)
    if not left.any():
        return extra
    owners = np.flatnonzero(candidate)
    owners = owners[np.lexsort((local[owners], draw(seed, OWNER, local[owners]), member[owners]))]
    start = np.searchsorted(member[owners], np.arange(left.shape[0]))
    first = np.arange(owners.shape[0]) - start[member[owners]] < left[member[owners]]
    extra[owners[first]] = 1
    return extra
