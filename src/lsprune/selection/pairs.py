"""Symmetric masks: an edge and its reverse are one pair, kept or removed together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lsprune.graph import Array, Graph, Owned, oriented
from lsprune.kernels import Runtime
from lsprune.numeric.random_numbers import OWNER, draw
from lsprune.selection.budget import quotas, target_count
from lsprune.selection.choose import NEVER, KeySource, choose
from lsprune.selection.owners import node_base, which_graph
from lsprune.selection.rules import SelectionRules


@dataclass(frozen=True, eq=False)
class Pairs:
    """Slots in pairs of an edge and its reverse; an edge without its reverse is a pair of one.

    Of parallel edges, which one is paired with which depends on their ranks: see `by_rank`.
    """

    of_slot: Array  # [slots] pair number
    count: int
    several: Array  # slots between two nodes that have more than one edge in some direction
    first_pair: Array  # for each of these the number of the first pair of its two nodes
    back: Array  # and whether it goes from the larger id to the smaller

    def by_rank(self, rank: Array) -> Pairs:
        """Return the same pairs, with parallel edges paired in the order in which they were taken."""
        if not self.several.size:
            return self
        order = np.lexsort((rank[self.several], self.back, self.first_pair))
        first, back = self.first_pair[order], self.back[order]
        of_slot = self.of_slot.copy()
        of_slot[self.several[order]] = first + _place_in_run(_changes(first) | _changes(back))
        return replace(self, of_slot=of_slot)

    def undecided(self, rank: Array, kept: Array) -> Array:
        """Return slots that no step took yet and some of which are kept with their pair: which ones, ranks decide.

        Args:
            rank: of every slot; NEVER where none is known. kept: `[count]`, whether a pair is kept.
        """
        among = np.flatnonzero(rank[self.several] == NEVER)
        slots = self.several[among]
        run = 2 * self.first_pair[among] + self.back[among]
        stays = kept[self.of_slot[slots]]
        mixed = np.intersect1d(run[stays], run[~stays])
        return slots[np.isin(run, mixed)]


def _changes(sorted_values: Array) -> Array:
    """Mark entries that differ from the one before, and the first."""
    return np.append(True, sorted_values[1:] != sorted_values[:-1])[: sorted_values.size]


def _place_in_run(new_run: Array) -> Array:
    """Count 0, 1, 2, ... from each True on."""
    at = np.arange(new_run.size)
    return at - np.maximum.accumulate(np.where(new_run, at, 0))


def pair_up(owner: Array, neighbour: Array, nodes: int) -> Pairs:
    """Pair (u, v) with (v, u); of parallel edges the first with the first of the other direction."""
    if not owner.size:
        nothing = np.empty(0, np.int64)
        return Pairs(nothing, 0, nothing, nothing, np.empty(0, bool))
    owner, neighbour = owner.astype(np.int64, copy=False), neighbour.astype(np.int64, copy=False)
    back = owner > neighbour
    key = np.minimum(owner, neighbour) * np.int64(nodes) + np.maximum(owner, neighbour)
    order = np.lexsort((back, key))
    new_group = _changes(key[order])
    place = _place_in_run(new_group | _changes(back[order]))
    group = np.cumsum(new_group) - 1
    size = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(size, group, place + 1)
    first = np.cumsum(size) - size
    of_slot = np.empty(key.size, np.int64)
    of_slot[order] = first[group] + place
    several = order[size[group] > 1]
    several.sort()
    group_of_slot = np.empty(key.size, np.int64)
    group_of_slot[order] = group
    return Pairs(of_slot, int(size.sum()), several, first[group_of_slot[several]], back[several])


def symmetric_mask(
    graph: Graph, rules: SelectionRules, mode: str, owned: Owned, source: KeySource, bases: Array, runtime: Runtime
) -> Array:
    """Return which slots are taken, `[slots]`: both directions of every kept pair.

    A pair's rank is the least ("union") or largest ("intersection") of the steps at which its two owners take it.
    """
    owner = owned.owners(0, owned.indptr.shape[0] - 1)
    degree, nodes = np.diff(owned.indptr), graph.num_nodes
    blank = pair_up(owner, owned.neighbour, nodes)

    def ranks(quota: Array, stop: Callable[[Array], bool] | None = None) -> Array:
        return known_ranks(choose(owned, quota, source, bases, rules.seed, runtime, ranked=True, stop=stop))

    if rules.keep is None:
        rank = ranks(quotas(owned.indptr, graph, rules, runtime))
        pairs = blank.by_rank(rank)
        kept = pair_ranks(pairs, rank, mode) < NEVER
    else:
        base = node_base(oriented(rules.side, graph.source_ptr, graph.target_ptr)[0])
        member, graphs = which_graph(graph.target_ptr, nodes, rules.pooled)
        member_of_pair = np.zeros(blank.count, np.int64)
        member_of_pair[blank.of_slot] = member[owner]
        target = target_count(rules.keep, np.bincount(member_of_pair, minlength=graphs))

        def enough(taken_at: Array) -> bool:
            rank = known_ranks(taken_at)
            ready = pair_ranks(blank.by_rank(rank), rank, mode) < NEVER
            return bool(np.all(np.bincount(member_of_pair[ready], minlength=graphs) >= target))

        rank = ranks(degree, enough)
        pairs = blank.by_rank(rank)
        local = owner - base[owner] if base.size else owner
        kept = _best_pairs(pairs, rank, mode, member[owner], local, target, rules.seed)
    open_slots = pairs.undecided(rank, kept)
    if open_slots.size:  # take all steps of their owners, to know the order of the parallel edges
        quota = np.zeros_like(degree)
        quota[owner[open_slots]] = degree[owner[open_slots]]
        rank[open_slots] = ranks(quota)[open_slots]
        pairs = blank.by_rank(rank)
    return kept[pairs.of_slot]


def known_ranks(ranks: Array) -> Array:
    """Return ranks as int64, NEVER for slots that no step took."""
    return np.where(ranks == 0, NEVER, ranks).astype(np.int64)


def pair_ranks(pairs: Pairs, rank: Array, mode: str) -> Array:
    """Return the rank of each pair."""
    if mode == "union":
        out = np.full(pairs.count, NEVER, np.int64)
        np.minimum.at(out, pairs.of_slot, rank)
    else:
        out = np.zeros(pairs.count, np.int64)
        np.maximum.at(out, pairs.of_slot, rank)
    return out


def _best_pairs(
    pairs: Pairs, rank: Array, mode: str, member: Array, local_owner: Array, target: Array, seed: int
) -> Array:
    """Mark the target[g] first pairs of each graph by (pair rank, hash of the owner that sets it, owner id)."""
    ranks = pair_ranks(pairs, rank, mode)
    sets_rank = rank == ranks[pairs.of_slot]  # the slots whose owner sets the rank
    where, who = pairs.of_slot[sets_rank], local_owner[sets_rank]
    hashed = draw(seed, OWNER, who)
    order = np.lexsort((who, hashed, where))  # of two givers the one with the smaller hash
    firsts = order[np.append(True, where[order][1:] != where[order][:-1])] if order.size else order
    of_pair = np.zeros(pairs.count, np.int64)
    of_pair[pairs.of_slot] = member
    best = np.lexsort((who[firsts], hashed[firsts], ranks[where[firsts]], of_pair[where[firsts]]))
    pair = where[firsts][best]
    start = np.searchsorted(of_pair[pair], np.arange(target.shape[0]))
    kept = np.zeros(pairs.count, bool)
    kept[pair[np.arange(pair.shape[0]) - start[of_pair[pair]] < target[of_pair[pair]]]] = True
    return kept
