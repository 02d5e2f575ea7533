"""Symmetric masks on a device: an edge and its reverse are kept or removed together; see `selection.pairs`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from lsprune.device.budget import quotas, target_count
from lsprune.device.choose import Choice, choose
from lsprune.device.graph import DeviceGraph
from lsprune.device.owners import DeviceOwned, local_ids, which_graph
from lsprune.graph import oriented
from lsprune.kernels.gpu.splitmix import draw, signed
from lsprune.numeric.random_numbers import OWNER
from lsprune.selection.choose import NEVER, KeySource
from lsprune.selection.rules import SelectionRules


@dataclass(frozen=True, eq=False)
class Pairs:
    """Slots in pairs of an edge and its reverse, as in `selection.pairs.Pairs`."""

    of_slot: Tensor
    count: int
    several: Tensor
    first_pair: Tensor
    back: Tensor

    def by_rank(self, rank: Tensor) -> Pairs:
        """Return the same pairs, with parallel edges paired in the order in which they were taken."""
        if not self.several.numel():
            return self
        order = lexsort(rank[self.several], self.back.long(), self.first_pair)
        first, back = self.first_pair[order], self.back[order]
        of_slot = self.of_slot.clone()
        of_slot[self.several[order]] = first + _place_in_run(_changes(first) | _changes(back))
        return replace(self, of_slot=of_slot)

    def undecided(self, rank: Tensor, kept: Tensor) -> Tensor:
        """Return slots that no step took yet and some of which are kept with their pair: which ones, ranks decide."""
        among = (rank[self.several] == NEVER).nonzero()[:, 0]
        slots = self.several[among]
        run = 2 * self.first_pair[among] + self.back[among]
        stays = kept[self.of_slot[slots]]
        mixed = torch.isin(run, run[stays]) & torch.isin(run, run[~stays])
        return slots[mixed]


def lexsort(*keys: Tensor) -> Tensor:
    """Return the order by the last key, then the one before, and so on, as numpy's."""
    order = torch.argsort(keys[0], stable=True)
    for key in keys[1:]:
        order = order[torch.argsort(key[order], stable=True)]
    return order


def _changes(values: Tensor) -> Tensor:
    """Mark entries that differ from the one before, and the first."""
    changes = torch.ones(values.shape[0], dtype=torch.bool, device=values.device)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _place_in_run(new_run: Tensor) -> Tensor:
    """Count 0, 1, 2, ... from each True on."""
    at = torch.arange(new_run.shape[0], device=new_run.device)
    return at - torch.where(new_run, at, 0).cummax(0).values if at.numel() else at


def pair_up(owner: Tensor, neighbour: Tensor, nodes: int) -> Pairs:
    """Pair (u, v) with (v, u); of parallel edges the first with the first of the other direction."""
    owner, neighbour = owner.long(), neighbour.long()
    back = owner > neighbour
    if not owner.numel():
        return Pairs(owner, 0, owner, owner, back)
    key = torch.minimum(owner, neighbour) * nodes + torch.maximum(owner, neighbour)
    order = lexsort(back.long(), key)
    new_group = _changes(key[order])
    place = _place_in_run(new_group | _changes(back[order]))
    group = new_group.cumsum(0) - 1
    size = torch.zeros(int(group[-1]) + 1, dtype=torch.int64, device=owner.device)
    size.scatter_reduce_(0, group, place + 1, "amax")
    first = size.cumsum(0) - size
    of_slot, group_of_slot = torch.empty_like(owner), torch.empty_like(owner)
    of_slot[order] = first[group] + place
    group_of_slot[order] = group
    several = order[size[group] > 1].sort().values
    return Pairs(of_slot, int(size.sum()), several, first[group_of_slot[several]], back[several])


def symmetric_choice(
    graph: DeviceGraph, rules: SelectionRules, mode: str, owned: DeviceOwned, source: KeySource, bases: Tensor | None
) -> tuple[Tensor, int]:
    """Return which slots are taken and how many: both directions of every kept pair."""
    indptr: Any = owned.indptr
    owner: Any = owned.owners(0, indptr.shape[0] - 1)
    degree, nodes, device = indptr.diff(), graph.num_nodes, graph.device
    blank = pair_up(owner, cast(Any, owned.neighbour), nodes)

    def ranks(quota: Tensor | int, stop: Callable[[Tensor], bool] | None = None) -> Tensor:
        choice, _ = Choice.of(owned, quota, bases, rules.seed, ranked=True)
        return known_ranks(choose(choice, source, stop=stop))

    if rules.keep is None:
        rank = ranks(quotas(indptr, graph, rules)[0])
        pairs = blank.by_rank(rank)
        kept = pair_ranks(pairs, rank, mode) < NEVER
    else:
        own_ptr = oriented(rules.side, graph.source_ptr, graph.target_ptr)[0]
        member, graphs = which_graph(graph.target_ptr, nodes, rules.pooled, device)
        member_of_pair = torch.zeros(blank.count, dtype=torch.int64, device=device)
        member_of_pair[blank.of_slot] = member[owner]
        target = target_count(rules.keep, torch.bincount(member_of_pair, minlength=graphs))

        def enough(taken_at: Tensor) -> bool:
            rank = known_ranks(taken_at)
            ready = pair_ranks(blank.by_rank(rank), rank, mode) < NEVER
            return bool((torch.bincount(member_of_pair[ready], minlength=graphs) >= target).all())

        rank = ranks(degree, enough)
        pairs = blank.by_rank(rank)
        local = local_ids(own_ptr, nodes, device)[owner]
        kept = _best_pairs(pairs, rank, mode, member[owner], local, target, rules.seed)
    open_slots = pairs.undecided(rank, kept)
    if open_slots.numel():  # take all steps of their owners, to know the order of the parallel edges
        quota = torch.zeros_like(degree)
        quota[owner[open_slots]] = degree[owner[open_slots]]
        rank[open_slots] = ranks(quota)[open_slots]
        pairs = blank.by_rank(rank)
    taken = kept[pairs.of_slot]
    return taken.to(torch.uint8), int(taken.sum())


def known_ranks(ranks: Tensor) -> Tensor:
    """Return ranks as int64, NEVER for slots that no step took."""
    return torch.where(ranks == 0, NEVER, ranks).long()


def pair_ranks(pairs: Pairs, rank: Tensor, mode: str) -> Tensor:
    """Return the rank of each pair."""
    least = mode == "union"
    out = torch.full((pairs.count,), NEVER if least else 0, dtype=torch.int64, device=rank.device)
    return out.scatter_reduce_(0, pairs.of_slot, rank, "amin" if least else "amax")


def _best_pairs(
    pairs: Pairs, rank: Tensor, mode: str, member: Tensor, local_owner: Tensor, target: Tensor, seed: int
) -> Tensor:
    """Mark the target[g] first pairs of each graph by (pair rank, hash of the owner that sets it, owner id)."""
    ranks = pair_ranks(pairs, rank, mode)
    sets_rank = rank == ranks[pairs.of_slot]  # the slots whose owner sets the rank
    where, who = pairs.of_slot[sets_rank], local_owner[sets_rank]
    hashed = draw(seed, (OWNER, who), who.device) ^ signed(1 << 63)
    order = lexsort(who, hashed, where)
    firsts = order[_changes(where[order])]
    of_pair = torch.zeros(pairs.count, dtype=torch.int64, device=rank.device)
    of_pair[pairs.of_slot] = member
    pair = where[firsts]
    best = lexsort(who[firsts], hashed[firsts], ranks[pair], of_pair[pair])
    pair = pair[best]
    start = torch.searchsorted(of_pair[pair], torch.arange(target.shape[0], device=rank.device))
    place = torch.arange(pair.shape[0], device=rank.device) - start[of_pair[pair]]
    kept = torch.zeros(pairs.count, dtype=torch.bool, device=rank.device)
    kept[pair[place < target[of_pair[pair]]]] = True
    return kept
