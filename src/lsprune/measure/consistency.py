"""Does pruning keep the same edges in similar neighbourhoods? That is what "locality-sensitive" promises.

Three measures, by what is known about the graphs:

- `aligned_consistency`: several samples of one class whose edges are known to correspond. Are the same ones kept?
- `consistency`: any graphs. Are similar neighbourhoods still similar after pruning, and different ones different?
- `stability`: any graphs. Does a node keep the same edges when attributes or edges change slightly?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.checks import check_count
from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, Owned, other_side
from lsprune.kernels import runtime
from lsprune.measure.adjacency import checked_mask, owner_rows
from lsprune.measure.inputs import check_pruner, one_graph
from lsprune.measure.noise import dropout_mask, subgraph, with_noise
from lsprune.pruners import Pruner
from lsprune.selection.owners import by_owner
from lsprune.selection.self_loops import loops_count

DRAWS_PER_PAIR = 4  # draws of two nodes for each pair: some give the same pair again, or a node and itself


def aligned_consistency(
    mask: Array,
    edge_ptr: Array,
    class_of_sample: Array,
    centre_edge: Array,
    *,
    pairs_per_class: int = 28,
    seed: int = 0,
) -> float:
    """Return the mean Jaccard overlap of the kept edges over pairs of samples of one class: 1 if they are the same.

    Only edges that both samples have are counted. A pair that keeps none of them is left out; NaN if all are left out.
    Time and memory grow with the number of pairs times the edges of a sample.

    Args:
        mask: `[E]` True = kept, for the edges of all samples, one sample after the other.
        edge_ptr: `[S + 1]` where the edges of each sample begin.
        class_of_sample: `[S]` numbers or strings.
        centre_edge: `[E]` the number of each edge within its class: edges of two samples with one number correspond.
        pairs_per_class: number of distinct pairs to draw from each class; all of them if there are fewer.

    `lsprune.lab.synthetic_graphs.Samples` has these arrays as `edge_ptr`, `y` and `centre_edge`.

    >>> mask = np.array([True, False, True, True, False])  # the second sample has no edge 2
    >>> aligned_consistency(mask, np.array([0, 3, 5]), np.array([0, 0]), np.array([0, 1, 2, 0, 1]))
    1.0
    """
    check_count("pairs_per_class", pairs_per_class)
    check_count("seed", seed, 0)
    centre_edge = _checked_centre(centre_edge)
    edge_ptr = _checked_offsets(edge_ptr, centre_edge.size)
    mask, classes = checked_mask(mask, centre_edge.size), _checked_classes(class_of_sample, edge_ptr.size - 1)
    code, width = _codes(edge_ptr, centre_edge)
    order = np.argsort(code, kind="stable")
    code, mask = code[order], mask[order]  # still one sample after the other
    if np.any(code[1:] == code[:-1]):
        raise GraphError("centre_edge must not repeat within a sample: it says which edges of two samples correspond")
    left, right = _pairs_within(classes, pairs_per_class, seed)
    sizes = edge_ptr[left + 1] - edge_ptr[left]
    pair = np.repeat(np.arange(left.size), sizes)
    here = np.arange(pair.size) - (np.cumsum(sizes) - sizes)[pair] + edge_ptr[left][pair]  # edges of the left sample
    wanted = code[here] + (right - left)[pair] * width  # the same edges in the right one
    there = np.minimum(np.searchsorted(code, wanted), code.size - 1)
    both = code[there] == wanted
    return _mean_overlap(mask[here[both]], mask[there[both]], pair[both], left.size)


def _checked_centre(values: Any) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < 0)):
        raise GraphError(f"centre_edge must be whole numbers [E] >= 0, got {array.dtype} {list(array.shape)}")
    return array.astype(np.int64)


def _checked_offsets(values: Any, edges: int) -> Array:
    array = np.asarray(values)
    rises = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu" and bool(np.all(array[1:] >= array[:-1]))
    if not rises or array[0] != 0 or array[-1] != edges:
        text = np.array2string(array, threshold=6, edgeitems=2, separator=", ")
        raise GraphError(f"edge_ptr must rise from 0 to the number of edges ({edges}), got {text}")
    return array.astype(np.int64)


def _checked_classes(values: Any, samples: int) -> Array:
    array = np.asarray(values)
    if array.shape != (samples,):
        raise GraphError(f"class_of_sample must have {samples} values, got {list(array.shape)}")
    if array.dtype.kind not in "iubfU" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise GraphError(f"class_of_sample must be finite numbers or strings, got {array.dtype}")
    return array


def _codes(edge_ptr: Array, centre_edge: Array) -> tuple[Array, int]:
    """Return (sample * width + edge of the class, width)."""
    width = int(centre_edge.max(initial=0)) + 1
    sample = np.repeat(np.arange(edge_ptr.size - 1), np.diff(edge_ptr))
    return sample * width + centre_edge, width


def _pairs_within(class_of_sample: Array, count: int, seed: int) -> tuple[Array, Array]:
    """Return up to `count` distinct pairs of samples of each class; the draws of a class do not depend on others."""
    left, right = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for name in np.unique(class_of_sample):
        members = np.flatnonzero(class_of_sample == name)
        pairs = members.size * (members.size - 1) // 2
        random = np.random.default_rng((seed, *_class_key(name)))
        number = random.choice(pairs, min(count, pairs), replace=False) if pairs else np.zeros(0, np.int64)
        high = ((1 + np.sqrt(1 + 8.0 * number)) // 2).astype(np.int64)  # pair 0 is (0, 1), 1 (0, 2), 2 (1, 2), ...
        left.append(members[number - high * (high - 1) // 2])
        right.append(members[high])
    return np.concatenate(left), np.concatenate(right)


def _class_key(name: Any) -> tuple[int, int]:
    """Return numbers >= 0 that stand for a class, whatever other classes there are."""
    if isinstance(name, str):
        return int.from_bytes(name.encode(), "little"), 2
    return abs(int(name)), int(name < 0)


def _mean_overlap(first: Array, second: Array, item: Array, items: int, counted: Array | None = None) -> float:
    """Return the mean over the items of |first and second| / |first or second|, two sets of edges of each item.

    Items without an edge in either set, and those not `counted`, are left out.
    """
    both = np.bincount(item[first & second], minlength=items)
    either = np.bincount(item[first | second], minlength=items)
    counts = either > 0 if counted is None else (either > 0) & counted
    return float(np.mean(both[counts] / either[counts])) if counts.any() else float("nan")


@dataclass(frozen=True)
class Consistency:
    """How well the similarity of neighbourhoods is preserved, over pairs of nodes that share a neighbour."""

    correlation: float  # Spearman's, of the overlap before and after; NaN if either is the same for all pairs
    before: float  # mean Jaccard overlap of the two neighbourhoods
    after: float
    pairs: int


def consistency(
    data: Any, pruner: Pruner, *, nodes: Array | None = None, pairs: int = 2000, seed: int = 0,
    threads: int | None = None,
) -> Consistency:  # fmt: skip
    """Measure whether similar neighbourhoods are still similar after pruning.

    For pairs of owners that share a neighbour: the Jaccard overlap of their sets of neighbours before and after
    pruning, and the rank correlation of the two. A pair is drawn as an owner, one of its edges, and another owner of
    that neighbour. Self-loops are not counted; parallel edges are one neighbour.

    With several graphs, every owner is equally likely, both owners of a pair are from one graph, and the figures are
    over all pairs. The graphs are pruned as a list: a pruner that is not fitted learns from all of them.

    Args:
        data: a `Graph` or anything else that `prune` accepts, with one relation; or a list of such graphs.
        nodes: ids of the owners that may be the first of a pair; default all. With several graphs, ids run on from
            one graph to the next.
        pairs: number of distinct pairs; fewer if four times as many draws do not give so many.

    >>> from lsprune import LSP
    >>> ends = np.array([[0, 1, 2, 0, 1, 2, 2, 3, 4], [5, 5, 5, 6, 6, 6, 7, 7, 7]])  # 5 and 6 share neighbours
    >>> result = consistency(Graph.from_edges(ends), LSP(k=1, hash="identity"))
    >>> result.pairs, round(result.before, 2)
    (3, 0.47)
    """
    check_count("pairs", pairs)
    check_count("seed", seed, 0)
    check_pruner(pruner)
    graph, run = one_graph(data), runtime(threads)
    mask = pruner.mask_graph(graph, run).mask
    first, second = _sharing(graph, pruner.side, nodes, pairs, seed, threads)
    before = _row_overlap(graph, None, pruner.side, first, second)
    after = _row_overlap(graph, mask, pruner.side, first, second)
    if not first.size:
        return Consistency(float("nan"), float("nan"), float("nan"), 0)
    return Consistency(spearman(before, after), float(before.mean()), float(after.mean()), int(first.size))


def _sharing(
    graph: Graph, side: str, nodes: Array | None, pairs: int, seed: int, threads: int | None
) -> tuple[Array, Array]:
    """Return distinct pairs of owners with a common neighbour."""
    run, skip = runtime(threads), not graph.bipartite
    owned = by_owner(graph, side, run, skip_loops=skip)
    owners = by_owner(graph, other_side(side), run, skip_loops=skip)  # the owners that a node is a neighbour of
    count = owned.indptr.size - 1
    candidates = np.arange(count) if nodes is None else _checked_nodes(nodes, count)
    candidates = candidates[np.diff(owned.indptr)[candidates] > 0]
    if not candidates.size:
        return candidates, candidates
    random = np.random.default_rng(seed)
    first = random.choice(candidates, DRAWS_PER_PAIR * pairs)
    second = _random_neighbour(owners, _random_neighbour(owned, first, random), random)
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, at = np.unique((low * count + high)[first != second], return_index=True)
    at = np.flatnonzero(first != second)[np.sort(at)[:pairs]]
    return first[at], second[at]


def _checked_nodes(nodes: Array, count: int) -> Array:
    ids = np.asarray(nodes)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or (ids.size and not 0 <= ids.min() <= ids.max() < count):
        raise OptionError(f"nodes must be ids in [0, {count}), got {nodes!r}")
    return ids.astype(np.int64)


def _random_neighbour(owned: Owned, rows: Array, random: np.random.Generator) -> Array:
    """Return a random neighbour of each row; no row is empty."""
    begin, end = owned.indptr[rows], owned.indptr[rows + 1]
    return owned.neighbour[random.integers(begin, end)].astype(np.int64)


def _row_overlap(graph: Graph, mask: Array | None, side: str, first: Array, second: Array) -> Array:
    """Return the Jaccard overlap of the neighbours of first[i] and second[i]; 0 if neither has any."""
    rows = owner_rows(graph, mask, side)
    degree = np.diff(rows.indptr)
    common = np.asarray(rows[first].multiply(rows[second]).sum(axis=1)).ravel()
    return np.asarray(common / np.maximum(degree[first] + degree[second] - common, 1))


def spearman(first: Array, second: Array) -> float:
    """Return the rank correlation of two lists; equal values share the mean of their ranks. NaN if one is constant.

    >>> round(spearman(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 3)
    0.8
    """
    ranks = [_ranks(values) for values in (first, second)]
    centred = [rank - rank.mean() for rank in ranks]
    length = float(np.sqrt((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return float((centred[0] * centred[1]).sum()) / length if length else float("nan")


def _ranks(values: Array) -> Array:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


@dataclass(frozen=True)
class Stability:
    """The mean Jaccard overlap of the edges that an owner keeps in a graph and in a perturbed copy."""

    noise: float  # a copy with noise on the attributes
    dropout: float  # a copy with edges dropped at random


def stability(
    data: Any, pruner: Pruner, *, noise: float = 0.1, dropout: float = 0.1, seed: int = 0, threads: int | None = None
) -> Stability:
    """Measure whether owners keep the same edges when the graph changes slightly: 1 if all of them do.

    The pruner is fitted once, on the graph itself (with several graphs, on all of them). Counted are the owners that
    lose an edge in the graph itself (the others have no choice), and of their edges those that the copy has too. NaN
    if no owner has a choice.

    Args:
        data: as in `consistency`.
        noise: Gaussian noise on every vector attribute, in standard deviations of its column. Categories and the zeros
            of a sparse matrix do not change; a graph without vectors has overlap 1.
        dropout: the share of edges to drop, the two directions of an edge together.

    >>> from lsprune import LocalRandom
    >>> ends = np.array([[0, 1, 2, 3, 0, 1, 2, 3], [4, 4, 4, 4, 5, 5, 5, 5]])
    >>> stability(Graph.from_edges(ends), LocalRandom(k=2), dropout=0.0)
    Stability(noise=1.0, dropout=1.0)
    """
    check_count("seed", seed, 0)
    check_pruner(pruner)
    graph, run = one_graph(data), runtime(threads)
    fitted = pruner.fit(graph, threads=threads)
    counted = not_loops(graph, pruner)
    kept = fitted.mask_graph(graph, run).mask
    noisy = fitted.mask_graph(with_noise(graph, noise, seed), run).mask
    left = dropout_mask(graph, dropout, seed)
    thinned = np.zeros_like(kept)
    thinned[left] = fitted.mask_graph(subgraph(graph, left), run).mask
    return Stability(
        noise=_owners_overlap(graph, pruner.side, kept, noisy, counted, counted),
        dropout=_owners_overlap(graph, pruner.side, kept, thinned, counted & left, counted),
    )


def not_loops(graph: Graph, pruner: Pruner) -> Array:
    """Return a mask `[E]` of the edges that take part in the choice: without self-loops, unless they count as edges."""
    source, target = graph.ends()
    whole = loops_count(pruner.self_loops, bipartite=graph.bipartite)
    return np.ones(source.shape, bool) if whole else np.asarray(source != target)


def _owners_overlap(graph: Graph, side: str, kept: Array, other: Array, common: Array, counted: Array) -> float:
    """Return the mean overlap of two masks on the `common` edges, over owners that lose a `counted` edge in `kept`."""
    owner, owners = graph.owners_and_neighbours(side)[0], graph.num_owners(side)
    lost = np.bincount(owner[counted & ~kept], minlength=owners) > 0
    return _mean_overlap(kept[common], other[common], owner[common], owners, lost)
