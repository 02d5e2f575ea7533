"""Does pruning keep the same edges where neighbourhoods are alike? What "locality-sensitive" has to achieve.

Three questions, by what is known about the graphs:

- `aligned_consistency`: several samples of one class whose edges are known to correspond. Are the same ones kept?
- `consistency`: any graphs. Are neighbourhoods that were alike still alike, and those that were not still not?
- `stability`: any graphs. Does a node keep the same edges when the attributes or the edges around it change a little?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.errors import GraphError, OptionError
from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import runtime
from lsprune.measure.adjacency import checked_mask, owner_rows
from lsprune.measure.inputs import check_pruner, one_graph
from lsprune.measure.noise import check_count, subgraph, surviving, with_noise
from lsprune.pruners import Pruner
from lsprune.selection.owners import by_owner

OVERSAMPLE = 4  # draws of two nodes for each pair that is asked for: some find the same pair, or a node and itself


def aligned_consistency(
    mask: Array,
    edge_ptr: Array,
    class_of_sample: Array,
    centre_edge: Array,
    *,
    pairs_per_class: int = 28,
    seed: int = 0,
) -> float:
    """The mean Jaccard overlap of the kept edges over pairs of samples of one class: 1 if the same edges survive.

    Only edges that both samples have are counted. A pair that keeps none of them says nothing and is left out; NaN if
    that is true of all pairs. Time and memory: the number of pairs times the edges of a sample.

    Args:
        mask: `[E]` True = kept, for the edges of all samples, one sample after the other.
        edge_ptr: `[S + 1]` where the edges of each sample begin.
        class_of_sample: `[S]` numbers or strings.
        centre_edge: `[E]` which edge of its class each one is: what makes edges of two samples the same.
        pairs_per_class: so many different pairs are drawn from each class, or all there are.

    `lsprune.lab.synthetic_graphs.Samples` has these arrays as `edge_ptr`, `y` and `centre_edge`.

    >>> mask = np.array([True, False, True, True, False])  # the second sample lacks edge 2
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
    found = code[there] == wanted
    return _mean_overlap(mask[here[found]], mask[there[found]], pair[found], left.size)


def _checked_centre(values: Any) -> Array:
    given = np.asarray(values)
    if given.ndim != 1 or (given.size and (given.dtype.kind not in "iu" or given.min() < 0)):
        raise GraphError(f"centre_edge must be whole numbers [E] >= 0, got {given.dtype} {list(given.shape)}")
    return given.astype(np.int64)


def _checked_offsets(values: Any, edges: int) -> Array:
    given = np.asarray(values)
    rises = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu" and bool(np.all(given[1:] >= given[:-1]))
    if not rises or given[0] != 0 or given[-1] != edges:
        shown = np.array2string(given, threshold=6, edgeitems=2, separator=", ")
        raise GraphError(f"edge_ptr must rise from 0 to the number of edges ({edges}), got {shown}")
    return given.astype(np.int64)


def _checked_classes(values: Any, samples: int) -> Array:
    given = np.asarray(values)
    if given.shape != (samples,):
        raise GraphError(f"class_of_sample must have {samples} values, got {list(given.shape)}")
    if given.dtype.kind not in "iubfU" or (given.dtype.kind == "f" and not np.isfinite(given).all()):
        raise GraphError(f"class_of_sample must be finite numbers or strings, got {given.dtype}")
    return given


def _codes(edge_ptr: Array, centre_edge: Array) -> tuple[Array, int]:
    """(sample * width + edge of the class, width)."""
    width = int(centre_edge.max(initial=0)) + 1
    sample = np.repeat(np.arange(edge_ptr.size - 1), np.diff(edge_ptr))
    return sample * width + centre_edge, width


def _pairs_within(class_of_sample: Array, count: int, seed: int) -> tuple[Array, Array]:
    """Pairs of different samples of one class, `count` different ones a class or all; each class draws by itself."""
    left, right = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for which in np.unique(class_of_sample):
        members = np.flatnonzero(class_of_sample == which)
        pairs = members.size * (members.size - 1) // 2
        random = np.random.default_rng((seed, *_class_key(which)))
        number = random.choice(pairs, min(count, pairs), replace=False) if pairs else np.zeros(0, np.int64)
        high = ((1 + np.sqrt(1 + 8.0 * number)) // 2).astype(np.int64)  # pair 0 is (0, 1), 1 (0, 2), 2 (1, 2), ...
        left.append(members[number - high * (high - 1) // 2])
        right.append(members[high])
    return np.concatenate(left), np.concatenate(right)


def _class_key(which: Any) -> tuple[int, int]:
    """Numbers >= 0 that say which class this is, whatever other classes there are."""
    if isinstance(which, str):
        return int.from_bytes(which.encode(), "little"), 2
    return abs(int(which)), int(which < 0)


def _mean_overlap(first: Array, second: Array, item: Array, items: int, counted: Array | None = None) -> float:
    """The mean over the items of |first and second| / |first or second|, two sets of edges of each item.

    Items without an edge in either set, and those not `counted`, are left out.
    """
    both = np.bincount(item[first & second], minlength=items)
    either = np.bincount(item[first | second], minlength=items)
    counts = either > 0 if counted is None else (either > 0) & counted
    return float(np.mean(both[counts] / either[counts])) if counts.any() else float("nan")


@dataclass(frozen=True)
class Consistency:
    """How the likeness of neighbourhoods survived, over pairs of nodes that shared a neighbour."""

    correlation: float  # Spearman's, of the overlap before and after; NaN where either is the same for all pairs
    before: float  # mean Jaccard overlap of the two neighbourhoods
    after: float
    pairs: int


def consistency(
    data: Any, pruner: Pruner, *, nodes: Array | None = None, pairs: int = 2000, seed: int = 0,
    threads: int | None = None,
) -> Consistency:  # fmt: skip
    """Whether neighbourhoods that were alike are still alike, where no edges are known to correspond.

    For pairs of owners that share a neighbour: the Jaccard overlap of their sets of neighbours before and after
    pruning, and the rank correlation of the two. A pair is drawn as an owner, one of its edges, and another owner of
    that neighbour. Self-loops are not counted; parallel edges are one neighbour.

    Of several graphs the pairs are drawn within each, its owners as likely as all others, and the figures are those of
    all pairs together. They are pruned as `pruner.mask` prunes a list: a pruner that is not fitted learns from all of
    them.

    Args:
        data: a `Graph` or anything else that `prune` accepts, with one relation; or a list of such graphs.
        nodes: owners that may be the first of a pair, as ids (of several graphs, counted through); default all.
        pairs: so many different pairs are looked at, or as many as are found in four times as many draws.

    >>> from lsprune import LSP
    >>> ends = np.array([[0, 1, 2, 0, 1, 2, 2, 3, 4], [5, 5, 5, 6, 6, 6, 7, 7, 7]])  # 5 and 6 hear the same nodes
    >>> found = consistency(Graph.from_edges(ends), LSP(k=1, hash="identity"))
    >>> found.pairs, round(found.before, 2)
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
    """Different pairs of owners with a common neighbour."""
    run, skip = runtime(threads), not graph.bipartite
    owned = by_owner(graph, side, run, skip=skip)
    owners = by_owner(graph, "out" if side == "in" else "in", run, skip=skip)  # whose neighbour a node is
    count = owned.indptr.size - 1
    chosen = np.arange(count) if nodes is None else _checked_nodes(nodes, count)
    chosen = chosen[np.diff(owned.indptr)[chosen] > 0]
    if not chosen.size:
        return chosen, chosen
    random = np.random.default_rng(seed)
    first = random.choice(chosen, OVERSAMPLE * pairs)
    second = _one_of(owners, _one_of(owned, first, random), random)
    low, high = np.minimum(first, second), np.maximum(first, second)
    _, at = np.unique((low * count + high)[first != second], return_index=True)
    at = np.flatnonzero(first != second)[np.sort(at)[:pairs]]
    return first[at], second[at]


def _checked_nodes(nodes: Array, count: int) -> Array:
    chosen = np.asarray(nodes)
    if (
        chosen.ndim != 1
        or chosen.dtype.kind not in "iu"
        or (chosen.size and not 0 <= chosen.min() <= chosen.max() < count)
    ):
        raise OptionError(f"nodes must be ids in [0, {count}), got {nodes!r}")
    return chosen.astype(np.int64)


def _one_of(owned: Owned, rows: Array, random: np.random.Generator) -> Array:
    """A random neighbour of each row, none of which is empty."""
    begin, end = owned.indptr[rows], owned.indptr[rows + 1]
    return owned.neighbour[random.integers(begin, end)].astype(np.int64)


def _row_overlap(graph: Graph, mask: Array | None, side: str, first: Array, second: Array) -> Array:
    """The Jaccard overlap of the neighbours of first[i] and second[i]; 0 where neither has any."""
    rows = owner_rows(graph, mask, side)
    degree = np.diff(rows.indptr)
    common = np.asarray(rows[first].multiply(rows[second]).sum(axis=1)).ravel()
    return np.asarray(common / np.maximum(degree[first] + degree[second] - common, 1))


def spearman(first: Array, second: Array) -> float:
    """The rank correlation of two lists; equal values share the mean of their ranks. NaN if a list is constant.

    >>> round(spearman(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 3)
    0.8
    """
    ranks = [_ranks(values) for values in (first, second)]
    moved = [rank - rank.mean() for rank in ranks]
    length = float(np.sqrt((moved[0] ** 2).sum() * (moved[1] ** 2).sum()))
    return float((moved[0] * moved[1]).sum()) / length if length else float("nan")


def _ranks(values: Array) -> Array:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


@dataclass(frozen=True)
class Stability:
    """The mean Jaccard overlap of what an owner keeps in a graph and in a copy that differs a little."""

    noise: float  # a copy with noise on the attributes
    dropout: float  # a copy with some edges less


def stability(
    data: Any, pruner: Pruner, *, noise: float = 0.1, dropout: float = 0.1, seed: int = 0, threads: int | None = None
) -> Stability:
    """Whether owners keep the same edges when the graph changes a little: 1 if all of them do.

    The pruner is fitted once, on the graph itself (of several: on all of them). Counted are the owners that lose an
    edge in the graph itself (the others have nothing to choose), and of their edges those that the copy has too. NaN if
    no owner has a choice.

    Args:
        data: as in `consistency`.
        noise: Gaussian noise on every vector attribute, in standard deviations of its column. Categories stay, and of a
            sparse matrix the zeros; with nothing to disturb the copy is the graph and the overlap 1.
        dropout: the share of edges that the other copy lacks, the two directions of an edge together.

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
    shaken = fitted.mask_graph(with_noise(graph, noise, seed), run).mask
    left = surviving(graph, dropout, seed)
    thinned = np.zeros_like(kept)
    thinned[left] = fitted.mask_graph(subgraph(graph, left), run).mask
    return Stability(
        noise=_owners_overlap(graph, pruner.side, kept, shaken, counted, counted),
        dropout=_owners_overlap(graph, pruner.side, kept, thinned, counted & left, counted),
    )


def not_loops(graph: Graph, pruner: Pruner) -> Array:
    """True for the edges `[E]` that take part in the choice: self-loops only where they are like any other edge."""
    source, target = graph.ends()
    whole = graph.bipartite or pruner.self_loops == "edge"
    return np.ones(source.shape, bool) if whole else np.asarray(source != target)


def _owners_overlap(graph: Graph, side: str, kept: Array, other: Array, common: Array, counted: Array) -> float:
    """The mean overlap of two masks on the `common` edges, over owners that lose one of the `counted` in the first."""
    source, target = graph.ends()
    owner, owners = (target, graph.num_targets) if side == "in" else (source, graph.num_sources)
    lost = np.bincount(owner[counted & ~kept], minlength=owners) > 0
    return _mean_overlap(kept[common], other[common], owner[common], owners, lost)
