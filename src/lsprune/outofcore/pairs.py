"""Symmetric masks of a graph on disk: the rules of `lsprune.selection.pairs`, applied to blocks of pairs.

All slots of a pair have the same smaller end. Slots that are grouped by it can therefore be paired one block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.outofcore.grouping import BatchedEdges, EdgeCounter, group_on_disk
from lsprune.outofcore.work_folder import Work
from lsprune.selection.budget import quotas, target_count
from lsprune.selection.choose import NEVER, KeySource, choose, open_quotas
from lsprune.selection.owners import BLOCK_OWNERS, neighbour_base_of_owner
from lsprune.selection.pairs import Pairs, known_ranks, pair_ranks, pair_up
from lsprune.selection.rules import SelectionRules

PAIR_ARRAYS = ("pair-indptr", "pair-high", "pair-slot")
_BLOCK_SLOTS = 1 << 17  # slots that are paired at a time
KeepsPair = Callable[[Pairs, Array, Array], Array]  # (pairs, owner and rank of each slot) -> whether each pair is kept


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """The slots of a graph, grouped by the smaller of their two ends."""

    owned: Owned
    by_smaller_end: Owned  # `neighbour` is the larger end and `edge` the slot
    nodes: int

    @classmethod
    def of(cls, owned: Owned, nodes: int, work: Work, runtime: Runtime) -> PairBlocks:
        """Group the slots on disk, as arrays of `work`."""

        def read() -> Iterator[tuple[int, Array, Array]]:
            for lo, hi in owned.blocks(_BLOCK_SLOTS):
                start, stop = int(owned.indptr[lo]), int(owned.indptr[hi])
                neighbour = owned.neighbour[start:stop]
                owner = owned.owners(lo, hi).astype(neighbour.dtype)
                yield start, np.minimum(owner, neighbour), np.maximum(owner, neighbour)

        counter = EdgeCounter(runtime, skip_loops=False)
        for _, low, high in read():
            counter.add(low, high)
        slots = BatchedEdges(read, counter.buckets, owned.neighbour.shape[0], nodes, nodes)
        return cls(owned, group_on_disk(slots, work, runtime, PAIR_ARRAYS), nodes)

    def __iter__(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield blocks of (slots, their owners, their neighbours)."""
        for lo, hi in self.by_smaller_end.blocks(_BLOCK_SLOTS):
            start, stop = int(self.by_smaller_end.indptr[lo]), int(self.by_smaller_end.indptr[hi])
            slots = self.by_smaller_end.edges(start, stop)
            high = self.by_smaller_end.neighbour[start:stop].astype(np.int64)
            low = self.by_smaller_end.owners(lo, hi)
            low_owns = (slots >= self.owned.indptr[low]) & (slots < self.owned.indptr[low + 1])
            yield slots, np.where(low_owns, low, high), np.where(low_owns, high, low)

    def paired(self, ranks: Array | None) -> Iterator[tuple[Array, Array, Array, Pairs]]:
        """Yield blocks of (slots, their owners, their ranks, pairs).

        Without ranks, which parallel edges form a pair is arbitrary.
        """
        for slots, owner, neighbour in self:
            rank = np.zeros(slots.shape, np.int64) if ranks is None else known_ranks(ranks[slots])
            yield slots, owner, rank, pair_up(owner, neighbour, self.nodes).by_rank(rank)


def symmetric_taken(
    graph: Graph, rules: SelectionRules, mode: str, owned: Owned, source: KeySource, work: Work, runtime: Runtime
) -> Array:
    """Return taken `[slots]`: both directions of every kept pair, equal to `selection.pairs.symmetric_mask`."""
    blocks = PairBlocks.of(owned, graph.num_nodes, work, runtime)
    base, taken = neighbour_base_of_owner(graph, rules.side), runtime.zeros(owned.neighbour.shape[0], np.uint8)
    quota = runtime.zeros(owned.indptr.shape[0] - 1, np.int64)

    def choose_ranks(stop: Callable[[Array], bool] | None = None) -> Array:
        return choose(owned, quota, source, base, rules.seed, runtime, ranked=True, stop=stop)

    keeps: KeepsPair
    if rules.keep is None:
        limit = open_quotas(owned, quotas(owned.indptr, graph, rules, runtime), source, runtime)
        quota[:] = limit
        ranks = choose_ranks()

        def keeps(pairs: Pairs, owner: Array, rank: Array) -> Array:
            within = np.where(rank <= limit[owner], rank, NEVER)
            return np.less(pair_ranks(pairs, within, mode), NEVER)
    else:
        target = int(target_count(rules.keep, np.array([_count_pairs(blocks)]))[0])
        for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
            quota[lo:hi] = np.diff(owned.indptr[lo : hi + 1])
        ranks = choose_ranks(lambda ranks: _has_ranked_pairs(blocks, ranks, mode, target))
        keeps = _first_pairs(blocks, ranks, mode, target, rules.seed, runtime)
    quota[:] = 0
    if _mark(blocks, ranks, keeps, taken, quota):
        # Which of several parallel edges pairs with a kept reverse edge depends on all steps of their owners.
        all_ranks = choose_ranks()
        for lo, hi in spans(ranks.shape[0], BLOCK_OWNERS):
            ranks[lo:hi] = np.where(ranks[lo:hi] == 0, all_ranks[lo:hi], ranks[lo:hi])
        _mark(blocks, ranks, keeps, taken, quota)
    return taken


def _count_pairs(blocks: PairBlocks) -> int:
    return sum(pairs.count for _, _, _, pairs in blocks.paired(None))


def _has_ranked_pairs(blocks: PairBlocks, ranks: Array, mode: str, target: int) -> bool:
    """Return whether at least `target` pairs have a rank."""
    ranked_slots = sum(int(np.count_nonzero(ranks[lo:hi])) for lo, hi in spans(ranks.shape[0], BLOCK_OWNERS))
    if target > ranked_slots:  # a pair with a rank has a slot with a rank
        return False
    ranked = (pair_ranks(pairs, rank, mode) < NEVER for _, _, rank, pairs in blocks.paired(ranks))
    return sum(int(block.sum()) for block in ranked) >= target


def _mark(blocks: PairBlocks, ranks: Array, keeps: KeepsPair, taken: Array, quota: Array) -> bool:
    """Mark the slots of kept pairs as taken; give the owners of undecided slots all their edges as quota.

    Return whether there are such owners.
    """
    indptr, has_undecided = blocks.owned.indptr, False
    for slots, owner, rank, pairs in blocks.paired(ranks):
        kept = keeps(pairs, owner, rank)
        taken[slots] = kept[pairs.of_slot]
        owners = owner[pairs.undecided(rank, kept)]
        quota[owners] = indptr[owners + 1] - indptr[owners]
        has_undecided |= owners.size > 0
    return has_undecided


def _first_pairs(blocks: PairBlocks, ranks: Array, mode: str, target: int, seed: int, runtime: Runtime) -> KeepsPair:
    """Return a test for the `target` first pairs by (rank, hash of the owner that sets the rank)."""
    counts = np.zeros(1, np.int64)  # pairs of each rank
    for _, _, rank, pairs in blocks.paired(ranks):
        of_pair = pair_ranks(pairs, rank, mode)
        block_counts = np.bincount(of_pair[of_pair < NEVER], minlength=counts.shape[0])
        block_counts[: counts.shape[0]] += counts
        counts = block_counts
    if target == 0:
        return lambda pairs, owner, rank: np.zeros(pairs.count, bool)
    total = np.cumsum(counts)
    last = int(np.searchsorted(total, target))  # the rank at which the budget ends
    left = target - int(total[last] - counts[last])
    hashes, filled = runtime.zeros(int(counts[last]), np.uint64), 0  # of the pairs with that rank
    for _, owner, rank, pairs in blocks.paired(ranks):
        of_pair = pair_ranks(pairs, rank, mode)
        block_hashes = _owner_hashes(pairs, owner, rank, of_pair, seed)[of_pair == last]
        hashes[filled : filled + block_hashes.shape[0]] = block_hashes
        filled += block_hashes.shape[0]
    hashes.partition(left - 1)
    limit = np.uint64(hashes[left - 1])

    def keeps(pairs: Pairs, owner: Array, rank: Array) -> Array:
        of_pair = pair_ranks(pairs, rank, mode)
        at_limit = (of_pair == last) & (_owner_hashes(pairs, owner, rank, of_pair, seed) <= limit)
        return np.asarray((of_pair < last) | at_limit)

    return keeps


def _owner_hashes(pairs: Pairs, owner: Array, rank: Array, of_pair: Array, seed: int) -> Array:
    """Return for each pair the smallest hash of an owner that sets its rank."""
    sets_rank = rank == of_pair[pairs.of_slot]
    hashes = np.full(pairs.count, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(hashes, pairs.of_slot[sets_rank], draw(seed, OWNER, owner[sets_rank]))
    return hashes
