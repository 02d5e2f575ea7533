"""Keys into masks: who owns which edges, how many each owner keeps, which ones, and pairs that stay together.

docs/how-it-works.md has the rules. Everything that needs the whole graph (grouping, degrees, the exact budget, pairs)
is here; what is independent per owner is in the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.hashing.base import STEPS, EdgeKeys, Keys, NodeKeys
from lsprune.kernels import Runtime, plain
from lsprune.kernels.mix import OWNER, draw
from lsprune.kernels.threads import spans

TIES = ("hash", "id", "position")
FOREVER = np.iinfo(np.int32).max  # the rank of an edge that no step took
_BLOCK = 1 << 16  # edges whose keys are made at a time
MOST_FUNCTIONS = 256  # later steps have no function of their own: hubs would take time in the square of their degree
OWNERS = 1 << 20  # owners looked at at a time, where all of them would take much memory


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a pruner makes of a graph."""

    mask: Array  # [E] bool, in the caller's edge order
    isolated: int  # nodes that had an edge to another node and have none left


class Rules(Protocol):
    """The options of a pruner that selection follows."""

    @property
    def k(self) -> int | None: ...
    @property
    def keep(self) -> float | None: ...
    @property
    def side(self) -> str: ...
    @property
    def symmetric(self) -> str | None: ...
    @property
    def self_loops(self) -> str: ...
    @property
    def pooled(self) -> bool: ...
    @property
    def seed(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Source:
    """Where the keys of a selection come from.

    keys(first, count, total) gives the keys of the steps first+1 .. first+count out of `total`; `bottom`: every step
    uses the one key of step 1; `replace`: a step may take what an earlier one took; `ties`: index into TIES; `check`:
    called instead of `keys` when nobody has a choice to make, for errors that must not depend on that; `added`: what
    weights added to the keys of some slots, once there are keys; None where there are no weights; `functions`: how many
    steps have a function of their own: the steps after them all go by the next function and its tie order, so that they
    take what is left from the smallest key up. None: every step has its own.
    """

    keys: Callable[[int, int, int], Keys]
    bottom: bool = False
    replace: bool = False
    ties: int = 0
    check: Callable[[], None] = lambda: None
    added: Callable[[int, int], Array | None] = lambda start, stop: None
    functions: int | None = None


def group(graph: Graph, rules: Rules, runtime: Runtime) -> Owned:
    """The edges of the graph by owner; self-loops are left out unless they count like any other edge."""
    return by_owner(graph, rules.side, runtime, skip=rules.self_loops != "edge" and not graph.bipartite)


def by_owner(graph: Graph, side: str, runtime: Runtime, *, skip: bool = False) -> Owned:
    """The edges of the graph by owner, without self-loops if `skip`."""
    if graph.grouped is not None:
        assert graph.grouped.side == side and graph.grouped.loops != skip, "grouped for another pruner"
        return graph.grouped.owned
    owners = graph.num_targets if side == "in" else graph.num_sources
    if graph.rows == ("target" if side == "in" else "source"):
        neighbour = graph.source if side == "in" else graph.target
        assert neighbour is not None and graph.indptr is not None
        indptr, neighbour = plain(graph.indptr.astype(np.int64, copy=False)), plain(neighbour)
        if not skip:
            return Owned(indptr, neighbour, None)
        return Owned(*runtime.module.without_loops(indptr, neighbour, runtime.threads))
    source, target = (plain(end) for end in graph.ends())
    owner, neighbour = (target, source) if side == "in" else (source, target)
    neighbours = graph.num_sources if side == "in" else graph.num_targets
    return Owned(*runtime.module.group(owner, neighbour, owners, neighbours, skip, runtime.threads))


def node_base(ptr: Array | None) -> Array:
    """For each node the first id of its graph; empty for a single graph."""
    return np.empty(0, np.int64) if ptr is None else np.repeat(ptr[:-1], np.diff(ptr))


def bases(graph: Graph, side: str) -> tuple[Array, Array]:
    """(owner base, neighbour base): first id of its graph for every node of either side, or empty."""
    source, target = node_base(graph.source_ptr), node_base(graph.target_ptr)
    if graph.ids is not None:  # what is left when a base is taken away must be the id in the whole graph
        source, target = (np.arange(ids.shape[0]) - ids for ids in graph.ids)
    return (target, source) if side == "in" else (source, target)


def neighbour_base_of_owner(graph: Graph, side: str) -> Array:
    """For each owner the first neighbour id of its graph, or empty for a single graph."""
    own, other = (graph.target_ptr, graph.source_ptr) if side == "in" else (graph.source_ptr, graph.target_ptr)
    if own is None or other is None:
        return np.empty(0, np.int64)
    return np.repeat(other[:-1], np.diff(own))


def which_graph(ptr: Array | None, nodes: int, pooled: bool) -> tuple[Array, int]:
    """(graph number of each node, number of graphs) for budgets; all one when pooled."""
    if ptr is None or pooled:
        return np.zeros(nodes, np.int64), 1
    return np.repeat(np.arange(ptr.shape[0] - 1), np.diff(ptr)), max(int(ptr.shape[0]) - 1, 1)


def target_count(keep: float, edges: Array) -> Array:
    """floor(keep * edges + 0.5) for each graph."""
    return np.floor(keep * edges.astype(np.float64) + 0.5).astype(np.int64)


def quotas(indptr: Array, graph: Graph, rules: Rules, runtime: Runtime) -> Array:
    """How many edges each owner keeps at most, `[owners]` int64: k, or what meets `keep` to the edge in each graph."""
    quota = runtime.zeros(indptr.shape[0] - 1, np.int64)
    if rules.k is not None:
        quota[:] = rules.k
        return quota
    assert rules.keep is not None
    ptr = graph.target_ptr if rules.side == "in" else graph.source_ptr
    if ptr is None or rules.pooled:
        _one_budget(indptr, rules.keep, _local(ptr, quota.shape[0]), rules.seed, quota, runtime)
        return quota
    degree, graphs = np.diff(indptr), max(int(ptr.shape[0]) - 1, 1)
    member = np.repeat(np.arange(ptr.shape[0] - 1), np.diff(ptr))
    target = target_count(rules.keep, _sums(degree, member, graphs))
    level = _levels(degree, np.ones(1, np.int64), member, target)
    quota += level[member]
    left = target - _sums(np.minimum(quota, degree), member, graphs)
    quota += _first_owners(degree > quota, member, left, _local(ptr, degree.shape[0]), rules.seed)
    return quota


def _sums(values: Array, member: Array, graphs: int) -> Array:
    out = np.zeros(graphs, np.int64)
    np.add.at(out, member, values)
    return out


def _levels(degree: Array, weight: Array, member: Array, target: Array) -> Array:
    """The largest k of each graph with sum of min(k, degree) * weight <= target, by bisection in all graphs at once."""
    graphs = target.shape[0]
    low, high = np.zeros(graphs, np.int64), np.full(graphs, int(degree.max(initial=0)), np.int64)
    while np.any(low < high):
        middle = (low + high + 1) // 2
        fits = _sums(np.minimum(degree, middle[member]) * weight, member, graphs) <= target
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low


def _one_budget(indptr: Array, keep: float, local: Array | None, seed: int, quota: Array, runtime: Runtime) -> None:
    """Fill in what each owner keeps in one graph; a block of owners at a time, for there may be very many."""
    degrees, counts = _degree_counts(indptr)  # by how often they occur: bisection over few numbers
    level, left = share_of(keep, degrees, counts)
    quota[:] = level
    if left:
        _first_of_one(indptr, level, left, int(counts[degrees > level].sum()), local, seed, quota, runtime)


def share_of(keep: float, degrees: Array, counts: Array) -> tuple[int, int]:
    """(edges that every owner keeps, owners that keep one more) in one graph, from how often degrees occur."""
    target = target_count(keep, np.array([(degrees * counts).sum()]))
    level = int(_levels(degrees, counts, np.zeros(degrees.shape, np.int64), target)[0])
    return level, int(target[0] - (np.minimum(degrees, level) * counts).sum())


def _first_of_one(
    indptr: Array, level: int, left: int, candidates: int, local: Array | None, seed: int, quota: Array,
    runtime: Runtime,
) -> None:  # fmt: skip
    """One more for the `left` owners of more than `level` edges that come first by splitmix64(seed, owner id), id."""
    hashed = runtime.zeros(candidates, np.uint64)

    def who(lo: int, hi: int) -> tuple[Array, Array]:
        some = np.flatnonzero(np.diff(indptr[lo : hi + 1]) > level) + lo
        return some, draw(seed, OWNER, some if local is None else local[some])

    at = 0
    for lo, hi in spans(quota.shape[0], OWNERS):
        some = who(lo, hi)[1]
        hashed[at : at + some.shape[0]] = some
        at += some.shape[0]
    hashed.partition(left - 1)
    last = hashed[left - 1]
    equal = left - int(np.count_nonzero(hashed[:left] < last))  # of those with the very last hash, by id
    for lo, hi in spans(quota.shape[0], OWNERS):
        some, draws = who(lo, hi)
        same = np.flatnonzero(draws == last)
        quota[some[draws < last]] += 1
        quota[some[same[:equal]]] += 1
        equal -= min(equal, same.shape[0])


def _degree_counts(indptr: Array) -> tuple[Array, Array]:
    """The degrees that occur, and how often."""
    found = [
        np.unique(np.diff(indptr[lo : hi + 1]), return_counts=True) for lo, hi in spans(indptr.shape[0] - 1, OWNERS)
    ]
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    degrees, place = np.unique(np.concatenate([degree for degree, _ in found]), return_inverse=True)
    counts = np.zeros(degrees.shape, np.int64)
    np.add.at(counts, place, np.concatenate([count for _, count in found]))
    return degrees, counts


def _local(ptr: Array | None, nodes: int) -> Array | None:
    return None if ptr is None else np.arange(nodes) - node_base(ptr)


def _first_owners(candidate: Array, member: Array, left: Array, local: Array | None, seed: int) -> Array:
    """1 for the left[g] owners of each graph that come first by splitmix64(seed, owner id), then id."""
    assert local is not None
    extra = np.zeros(candidate.shape, np.int64)
    if not left.any():
        return extra
    who = np.flatnonzero(candidate)
    who = who[np.lexsort((local[who], draw(seed, OWNER, local[who]), member[who]))]
    start = np.searchsorted(member[who], np.arange(left.shape[0]))
    chosen = np.arange(who.shape[0]) - start[member[who]] < left[member[who]]
    extra[who[chosen]] = 1
    return extra


def choose(
    owned: Owned, quota: Array, source: Source, bases: Array, seed: int, runtime: Runtime, *, ranked: bool,
    stop: Callable[[Array], bool] | None = None,
) -> Array:  # fmt: skip
    """What each slot got: 0 not taken, else taken; with `ranked`, the step at which it was taken.

    `stop(ranks)` may end the work early, after any block of steps.
    """
    start = np.uint64(seed & (2**64 - 1))
    slots = owned.neighbour.shape[0]
    taken = runtime.zeros(slots, np.uint8)
    ranks = runtime.zeros(slots if ranked else 0, np.int32)
    if source.bottom:
        _in_order_of(source.keys(0, 1, 1), owned, quota, source, bases, start, runtime, ranked, 0, taken, ranks)
        return ranks if ranked else taken
    needed = _steps_needed(owned.indptr, quota, ranked, source.replace)
    if needed == 0:  # nobody has to choose: all or nothing, and no key is ever computed
        source.check()
        for lo, hi in spans(quota.shape[0], OWNERS):
            degree = np.diff(owned.indptr[lo : hi + 1])
            taken[owned.indptr[lo] : owned.indptr[hi]] = np.repeat(degree <= quota[lo:hi], degree)
        return ranks if ranked else taken
    by_functions = needed if source.functions is None else min(needed, source.functions)
    for first in range(0, by_functions, STEPS):
        count = min(STEPS, by_functions - first)
        _one_block(owned, quota, source, bases, start, runtime, ranked, first, count, needed, taken)
        if ranked:
            runtime.spread(slots, lambda lo, hi, first=first: _note(taken[lo:hi], first, ranks[lo:hi]))  # type: ignore[misc]
            if stop is not None and stop(ranks):
                return ranks
    if needed > by_functions:
        keys = source.keys(by_functions, 1, needed)
        _in_order_of(keys, owned, quota, source, bases, start, runtime, ranked, by_functions, taken, ranks)
    return ranks if ranked else taken


def _in_order_of(
    keys: Keys, owned: Owned, quota: Array, source: Source, bases: Array, seed: np.uint64, runtime: Runtime,
    ranked: bool, first: int, taken: Array, ranks: Array,
) -> None:  # fmt: skip
    """All steps after the first `first` ones, by one function."""
    over_owners(owned, runtime, lambda lo, hi: runtime.module.choose_bottom(
        lo, hi, owned.indptr, owned.neighbour, edge_keys(keys, owned, lo, hi), first, quota, bases, source.ties, seed,
        ranked, taken, ranks), _have_steps_left(owned, quota, first, ranked))  # fmt: skip


def _have_steps_left(owned: Owned, quota: Array, first: int, ranked: bool) -> Callable[[int, int], bool] | None:
    """A test of whether any of the owners lo..hi has a step after the first `first` ones; None: most will have."""
    if first == 0 and not ranked:
        return None

    def left(lo: int, hi: int) -> bool:
        return bool((np.minimum(quota[lo:hi], np.diff(owned.indptr[lo : hi + 1])) > first).any())

    return left


def _steps_needed(indptr: Array, quota: Array, ranked: bool, replace: bool) -> int:
    """The most steps that an owner with a choice to make has; the others keep all they have."""
    most = 0
    for lo, hi in spans(quota.shape[0], OWNERS):
        degree, some = np.diff(indptr[lo : hi + 1]), quota[lo:hi]
        steps = some if replace else np.minimum(some, degree) if ranked else some * (degree > some)
        most = max(most, int(steps.max(initial=0)))
    return most


def _note(taken: Array, first: int, ranks: Array) -> None:
    """The rank of what this block of steps took."""
    fresh = (taken != 0) & (ranks == 0)
    ranks[fresh] = taken[fresh].astype(np.int32) + first


def _one_block(
    owned: Owned, quota: Array, source: Source, bases: Array, seed: np.uint64, runtime: Runtime, ranked: bool,
    first: int, count: int, total: int, taken: Array,
) -> None:  # fmt: skip
    module = runtime.module
    keys = source.keys(first, count, total)
    if isinstance(keys, NodeKeys) and not source.replace:
        table = keys.table
        over_owners(owned, runtime, lambda lo, hi: module.choose_nodes(
            lo, hi, owned.indptr, owned.neighbour, table, first, count, quota, bases, source.ties, seed, ranked,
            taken), _have_steps_left(owned, quota, first, ranked))  # fmt: skip
        return
    kernel = module.choose_again if source.replace else module.choose_steps
    left = None if source.replace else _have_steps_left(owned, quota, first, ranked)
    over_owners(owned, runtime, lambda lo, hi: kernel(
        lo, hi, owned.indptr, owned.neighbour, edge_keys(keys, owned, lo, hi, count), first, quota, bases, source.ties,
        seed, ranked, taken), left)  # fmt: skip


def edge_keys(keys: Keys, owned: Owned, lo: int, hi: int, count: int = 1) -> Array:
    """The keys of all slots of the owners lo..hi, `[slots, count]` int64."""
    if isinstance(keys, EdgeKeys):
        return keys.of(lo, hi)
    rows = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
    return keys.table[rows, :count].astype(np.int64)


def over_owners(
    owned: Owned, runtime: Runtime, work: Callable[[int, int], None], only: Callable[[int, int], bool] | None = None
) -> None:
    """work(lo, hi) over ranges of owners with about the same number of edges each, where only(lo, hi) is true."""
    slots = owned.neighbour.shape[0]
    parts = max(1, -(-slots // min(_BLOCK, max(slots // (16 * runtime.threads), 1 << 12))))
    cuts = np.searchsorted(owned.indptr, np.arange(parts + 1) * slots // parts)
    cuts[0], cuts[-1] = 0, owned.indptr.shape[0] - 1
    ranges = [(int(lo), int(hi)) for lo, hi in zip(cuts[:-1], cuts[1:], strict=True) if hi > lo]
    ranges = ranges if only is None else [span for span in ranges if only(*span)]
    runtime.spread(len(ranges), lambda i, _: work(*ranges[i]), 1)


def outcome(graph: Graph, mask: Array, runtime: Runtime) -> Outcome:
    """The outcome of a mask made in whatever way: counts what it isolates in one pass over the edges."""
    if graph.bipartite:
        return Outcome(mask, 0)
    had, has = np.zeros(graph.num_nodes, np.uint8), np.zeros(graph.num_nodes, np.uint8)
    source, target = (plain(end) for end in graph.ends())
    kept, module = mask.view(np.uint8), runtime.module
    runtime.spread(mask.shape[0], lambda lo, hi: module.touch(source, target, kept, lo, hi, had, has))
    return Outcome(mask, int((had > has).sum()))


def owners_outcome(
    graph: Graph, owned: Owned, taken: Array, self_loops: str, runtime: Runtime, quota: Array | None = None
) -> Outcome:
    """The outcome of what every slot got; only owners left with nothing are looked up among the neighbours.

    With `quota`, an owner is known to keep something when it has something and its quota is not 0.
    """
    mask = to_mask(graph, owned, taken, self_loops, runtime)
    rows, module = owned.indptr.shape[0] - 1, runtime.module
    if graph.bipartite:
        return Outcome(mask, 0)
    if self_loops == "edge":  # slots that are self-loops join a node to nobody
        return Outcome(mask, _isolated(owned, taken, graph.num_nodes, runtime))
    had = (owned.indptr[1:] > owned.indptr[:-1]).view(np.uint8)
    if quota is None:
        has = np.zeros(rows, np.uint8)
        runtime.spread(rows, lambda lo, hi: module.any_in_rows(owned.indptr, taken, lo, hi, has))
    else:
        has = had & (quota > 0)
    without = (has == 0).view(np.uint8)
    if without.any():
        runtime.spread(taken.shape[0], lambda lo, hi: module.touch_neighbours(
            owned.neighbour, taken, without, lo, hi, had, has))  # fmt: skip
    return Outcome(mask, int((had > has).sum()))


def _isolated(owned: Owned, taken: Array, nodes: int, runtime: Runtime) -> int:
    """Nodes that have a slot with another node and keep none."""
    had, has = np.zeros(nodes, np.uint8), np.zeros(nodes, np.uint8)

    def touch(lo: int, hi: int) -> None:
        start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
        owner = owned.owners(lo, hi).astype(owned.neighbour.dtype)
        kept = np.not_equal(taken[start:stop], 0).view(np.uint8)
        runtime.module.touch(owner, owned.neighbour[start:stop], kept, 0, stop - start, had, has)

    over_owners(owned, runtime, touch)
    return int((had > has).sum())


def to_mask(graph: Graph, owned: Owned, taken: Array, self_loops: str, runtime: Runtime) -> Array:
    """The mask in the caller's edge order; self-loops that did not take part are kept ("free") or not ("drop")."""
    mask = runtime.zeros(graph.num_edges, bool)
    if owned.edge is None:
        runtime.spread(taken.shape[0], lambda lo, hi: np.not_equal(taken[lo:hi], 0, out=mask[lo:hi]))
        return mask
    if owned.edge.shape[0] < mask.shape[0]:
        mask[:] = self_loops == "free"
    edge = owned.edge
    runtime.spread(taken.shape[0], lambda lo, hi: runtime.module.scatter_taken(taken, edge, lo, hi, mask))
    return mask
