"""Symmetric masks: an edge and its reverse are one pair, kept or removed together (DESIGN section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Graph, Owned
from lsprune.kernels import Runtime
from lsprune.kernels.mix import OWNER, draw
from lsprune.select import FOREVER, Rules, Source, choose, node_base, target_count, which_graph

NONE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Pairs:
    """Slots put into pairs; an edge without its reverse is a pair of one."""

    of_slot: Array  # [slots] pair number
    count: int
    parallel: bool  # some edge occurs more than once


def pair_up(owner: Array, neighbour: Array, rank: Array, nodes: int) -> Pairs:
    """Pairs of (u, v) with (v, u); of parallel edges the first taken goes with the first taken the other way."""
    owner, neighbour = owner.astype(np.int64, copy=False), neighbour.astype(np.int64, copy=False)
    low, high = np.minimum(owner, neighbour), np.maximum(owner, neighbour)
    back = owner > neighbour
    order = np.lexsort((rank, back, high, low))
    key = low[order] * np.int64(nodes) + high[order]
    new_group = np.append(True, key[1:] != key[:-1]) if key.size else np.empty(0, bool)
    new_run = new_group | np.append(True, back[order][1:] != back[order][:-1]) if key.size else new_group
    place = np.arange(key.size) - np.maximum.accumulate(np.where(new_run, np.arange(key.size), 0))
    if key.size == 0:
        return Pairs(np.empty(0, np.int64), 0, False)
    group = np.cumsum(new_group) - 1
    size = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(size, group, place + 1)
    base = np.cumsum(size) - size
    pair = np.empty(key.size, np.int64)
    pair[order] = base[group] + place
    return Pairs(pair, int(size.sum()), bool((size > 1).any()))


def symmetric_mask(
    graph: Graph, rules: Rules, mode: str, owned: Owned, source: Source, bases: Array, runtime: Runtime
) -> Array:
    """taken `[slots]`: both directions of every kept pair.

    A pair's rank is the least ("union") or largest ("intersection") of the steps at which its two owners take it.
    """
    owner = owned.owners(0, owned.indptr.shape[0] - 1)
    degree, nodes = np.diff(owned.indptr), graph.num_nodes
    blank = pair_up(owner, owned.neighbour, np.zeros(owner.shape, np.int64), nodes)
    # Which of several parallel edges goes with which needs all their ranks, also those of edges that are not kept.
    parallel = blank.parallel
    if rules.k is not None:
        quota = np.maximum(degree, rules.k) if parallel else np.full(degree.shape, rules.k, np.int64)
        rank = known(choose(owned, quota, source, bases, rules.seed, runtime, ranked=True))
        pairs = pair_up(owner, owned.neighbour, rank, nodes)
        return (pair_ranks(pairs, rank, mode) <= rules.k)[pairs.of_slot]
    assert rules.keep is not None
    base = node_base(graph.target_ptr if rules.side == "in" else graph.source_ptr)
    member, graphs = which_graph(graph.target_ptr, nodes, rules.pooled)
    member_of_pair = np.zeros(blank.count, np.int64)
    member_of_pair[blank.of_slot] = member[owner]
    target = target_count(rules.keep, np.bincount(member_of_pair, minlength=graphs))

    def enough(ranks: Array) -> bool:
        if parallel:
            return False
        ready = pair_ranks(blank, known(ranks), mode) < FOREVER
        return bool(np.all(np.bincount(member_of_pair[ready], minlength=graphs) >= target))

    rank = known(choose(owned, degree, source, bases, rules.seed, runtime, ranked=True, stop=enough))
    pairs = pair_up(owner, owned.neighbour, rank, nodes)
    local = owner - base[owner] if base.size else owner
    return _best_pairs(pairs, rank, mode, member[owner], local, target, rules.seed)[pairs.of_slot]


def known(ranks: Array) -> Array:
    return np.where(ranks == 0, FOREVER, ranks).astype(np.int64)


def pair_ranks(pairs: Pairs, rank: Array, mode: str) -> Array:
    """The rank of each pair; of a pair of one, its own."""
    if mode == "union":
        out = np.full(pairs.count, FOREVER, np.int64)
        np.minimum.at(out, pairs.of_slot, rank)
    else:
        out = np.zeros(pairs.count, np.int64)
        np.maximum.at(out, pairs.of_slot, rank)
    return out


def _best_pairs(
    pairs: Pairs, rank: Array, mode: str, member: Array, local_owner: Array, target: Array, seed: int
) -> Array:
    """The target[g] first pairs of each graph by (pair rank, hash of the owner that gives it, owner id)."""
    ranks = pair_ranks(pairs, rank, mode)
    giver = rank == ranks[pairs.of_slot]  # the slots whose owner sets the rank
    where, who = pairs.of_slot[giver], local_owner[giver]
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
