"""Symmetric masks of a graph on disk: the rules of `lsprune.selection.pairs`, for blocks of pairs.

All slots of a pair have the same smaller end, so that slots grouped by it can be put into pairs a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.outofcore.grouping import Counter, grouped
from lsprune.outofcore.work_folder import Work
from lsprune.selection.budget import target_count
from lsprune.selection.choose import NEVER, KeySource, choose
from lsprune.selection.owners import BLOCK_OWNERS, neighbour_base_of_owner
from lsprune.selection.pairs import Pairs, known_ranks, pair_ranks, pair_up
from lsprune.selection.rules import SelectionRules

PAIR_NAMES = ("pair-indptr", "pair-high", "pair-slot")
_SLOTS = 1 << 17  # put into pairs at a time
Kept = Callable[[Pairs, Array, Array], Array]  # (pairs, owner and rank of each slot) -> whether each pair is kept


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """The slots of a graph by the smaller of their two ends."""

    owned: Owned
    by_low: Owned  # `neighbour` is the larger end and `edge` the slot

    @classmethod
    def of(cls, owned: Owned, nodes: int, work: Work, runtime: Runtime) -> PairBlocks:
        def ends() -> Iterator[tuple[int, Array, Array]]:
            for lo, hi in owned.blocks(_SLOTS):
                start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
                other = owned.neighbour[start:stop]
                owner = owned.owners(lo, hi).astype(other.dtype)
                yield start, np.minimum(owner, other), np.maximum(owner, other)

        counter = Counter(runtime, skip=False)
        for _, low, high in ends():
            counter.add(low, high)
        slots = owned.neighbour.shape[0]
        return cls(owned, grouped(ends, counter.counts, slots, nodes, work, runtime, skip=False, names=PAIR_NAMES))

    def __iter__(self) -> Iterator[tuple[Array, Array, Array]]:
        """Blocks of (slots, their owners, their neighbours)."""
        for lo, hi in self.by_low.blocks(_SLOTS):
            start, stop = int(self.by_low.indptr[lo]), int(self.by_low.indptr[hi])
            slots, high = self.by_low.edges(start, stop), self.by_low.neighbour[start:stop].astype(np.int64)
            low = self.by_low.owners(lo, hi)
            forth = (slots >= self.owned.indptr[low]) & (slots < self.owned.indptr[low + 1])
            yield slots, np.where(forth, low, high), np.where(forth, high, low)

    def paired(self, ranks: Array | None, nodes: int) -> Iterator[tuple[Array, Array, Array, Pairs]]:
        """Blocks of (slots, their owners, their ranks, pairs); without ranks the pairing of parallel edges is any."""
        for slots, owner, neighbour in self:
            rank = np.zeros(slots.shape, np.int64) if ranks is None else known_ranks(ranks[slots])
            yield slots, owner, rank, pair_up(owner, neighbour, nodes).by_rank(rank)


def symmetric_taken(
    graph: Graph, rules: SelectionRules, mode: str, owned: Owned, source: KeySource, work: Work, runtime: Runtime
) -> Array:
    """taken `[slots]`: both directions of every kept pair, as `lsprune.selection.pairs.symmetric_mask` in memory."""
    blocks, nodes = PairBlocks.of(owned, graph.num_nodes, work, runtime), graph.num_nodes
    base, taken = neighbour_base_of_owner(graph, rules.side), runtime.zeros(owned.neighbour.shape[0], np.uint8)
    quota = runtime.zeros(owned.indptr.shape[0] - 1, np.int64)

    def ranks_of(stop: Callable[[Array], bool] | None = None) -> Array:
        return choose(owned, quota, source, base, rules.seed, runtime, ranked=True, stop=stop)

    kept: Kept
    if rules.k is not None:
        k = rules.k
        quota[:] = k
        ranks = ranks_of()
        kept = lambda pairs, owner, rank: pair_ranks(pairs, rank, mode) <= k  # noqa: E731
    else:
        assert rules.keep is not None
        count = sum(pairs.count for _, _, _, pairs in blocks.paired(None, nodes))
        target = int(target_count(rules.keep, np.array([count]))[0])

        def enough(ranks: Array) -> bool:
            if target > sum(int(np.count_nonzero(ranks[lo:hi])) for lo, hi in spans(ranks.shape[0], BLOCK_OWNERS)):
                return False  # a pair with a rank has an edge with one
            ready = (pair_ranks(pairs, rank, mode) < NEVER for _, _, rank, pairs in blocks.paired(ranks, nodes))
            return sum(int(some.sum()) for some in ready) >= target

        for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
            quota[lo:hi] = np.diff(owned.indptr[lo : hi + 1])
        ranks = ranks_of(enough)
        kept = _best(blocks, ranks, nodes, mode, target, rules.seed, runtime)
    quota[:] = 0
    if _mark(blocks, ranks, nodes, kept, taken, owned, quota):
        # Which of several parallel edges goes with the reverse that is kept: their owners go through all their steps.
        more = ranks_of()
        for lo, hi in spans(ranks.shape[0], BLOCK_OWNERS):
            ranks[lo:hi] = np.where(ranks[lo:hi] == 0, more[lo:hi], ranks[lo:hi])
        _mark(blocks, ranks, nodes, kept, taken, owned, quota)
    return taken


def _mark(blocks: PairBlocks, ranks: Array, nodes: int, kept: Kept, taken: Array, owned: Owned, quota: Array) -> bool:
    """Mark the slots of kept pairs as taken; give the owners of undecided ones all their edges as quota.

    Returns whether there are any such owners.
    """
    undecided = False
    for slots, owner, rank, pairs in blocks.paired(ranks, nodes):
        stays = kept(pairs, owner, rank)
        taken[slots] = stays[pairs.of_slot]
        owners = owner[pairs.undecided(rank, stays)]
        quota[owners] = owned.indptr[owners + 1] - owned.indptr[owners]
        undecided |= owners.size > 0
    return undecided


def _best(blocks: PairBlocks, ranks: Array, nodes: int, mode: str, target: int, seed: int, runtime: Runtime) -> Kept:
    """A test for the `target` first pairs by (rank, hash of the owner that gives it); it gives each rank once."""
    counts = np.zeros(1, np.int64)
    for _, _, rank, pairs in blocks.paired(ranks, nodes):
        of_pair = pair_ranks(pairs, rank, mode)
        found = np.bincount(of_pair[of_pair < NEVER], minlength=counts.shape[0])
        found[: counts.shape[0]] += counts
        counts = found
    if target == 0:
        return lambda pairs, owner, rank: np.zeros(pairs.count, bool)
    total = np.cumsum(counts)
    last = int(np.searchsorted(total, target))  # the rank at which the budget ends
    left = target - int(total[last] - counts[last])
    limit = _limit(blocks, ranks, nodes, mode, seed, last, int(counts[last]), left, runtime)

    def kept(pairs: Pairs, owner: Array, rank: Array) -> Array:
        of_pair = pair_ranks(pairs, rank, mode)
        at_limit = (of_pair == last) & (_givers(pairs, owner, rank, of_pair, seed) <= limit)
        return np.asarray((of_pair < last) | at_limit)

    return kept


def _limit(
    blocks: PairBlocks, ranks: Array, nodes: int, mode: str, seed: int, last: int, count: int, left: int,
    runtime: Runtime,
) -> np.uint64:  # fmt: skip
    """The hash of the last of the `left` pairs that are kept among the `count` of rank `last`."""
    hashed, at = runtime.zeros(count, np.uint64), 0
    for _, owner, rank, pairs in blocks.paired(ranks, nodes):
        of_pair = pair_ranks(pairs, rank, mode)
        some = _givers(pairs, owner, rank, of_pair, seed)[of_pair == last]
        hashed[at : at + some.shape[0]] = some
        at += some.shape[0]
    hashed.partition(left - 1)
    return np.uint64(hashed[left - 1])


def _givers(pairs: Pairs, owner: Array, rank: Array, of_pair: Array, seed: int) -> Array:
    """For each pair the smallest hash of an owner that sets its rank."""
    giver = rank == of_pair[pairs.of_slot]
    out = np.full(pairs.count, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(out, pairs.of_slot[giver], draw(seed, OWNER, owner[giver]))
    return out
