"""Owners that choose among their edges: what the definition takes, and what the GPU kernels take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from gpu_arrays import tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu.choose import Block, Chooser, choose_block
from lsprune.numeric.random_numbers import TIE, draw

SEED = 7
DEGREES = [0, 1, 3, 9, 14, 16, 17, 30, 33, 70, 130, 300, 1030, 2100]
SHARES = [0.1, 0.1, 0.1, 0.16, 0.1, 0.04, 0.1, 0.1, 0.05, 0.05, 0.04, 0.02, 0.02, 0.02]
SIZES = [3, 1000, 2**30]  # of keys: from all alike to all different


@dataclass(frozen=True, eq=False)
class Selection:
    """Owners, their edges and their keys."""

    indptr: np.ndarray
    neighbour: np.ndarray
    tables: tuple[np.ndarray, ...]  # the keys of each block of steps, [rows, 8 or 16]; [rows, 1] for all that are left
    quota: np.ndarray | int
    by_slot: bool = False
    bases: np.ndarray | None = None
    ties: int = 0
    ranked: bool = False
    expect_ties: bool = False
    origin: int | None = None  # id of the first owner, if self-loops are in place and do not count

    @property
    def owners(self) -> int:
        return len(self.indptr) - 1

    @property
    def owner(self) -> np.ndarray:
        return np.repeat(np.arange(self.owners), np.diff(self.indptr))

    @property
    def loops(self) -> np.ndarray | None:
        """The self-loops of each owner."""
        if self.origin is None:
            return None
        return np.bincount(self.owner[~self.counts], minlength=self.owners).astype(np.int32)

    @property
    def counts(self) -> np.ndarray:
        """Whether a slot is an edge to choose from."""
        if self.origin is None:
            return np.ones(len(self.neighbour), bool)
        return self.neighbour != self.owner + self.origin

    @property
    def most(self) -> np.ndarray:
        return np.broadcast_to(self.quota, self.owners).astype(np.int64)

    def blocks(self) -> Iterator[tuple[np.ndarray, int, int]]:
        """Iterate over (table, steps before, steps) of the blocks that are needed, at least one."""
        first, needed = 0, int(self.most.max(initial=0))
        for table in self.tables:
            count = needed - first if table.shape[1] == 1 else min(needed - first, table.shape[1])
            if first and not count:
                return
            yield table, first, count
            first += count


def defined(case: Selection) -> np.ndarray:
    """Which slots the definition takes: the step at which it does with `ranked`, else 1. Self-loops do not change."""
    slot = np.flatnonzero(case.counts)
    neighbour, row = case.neighbour[slot], slot if case.by_slot else case.neighbour[slot]
    indptr = np.concatenate([[0], np.cumsum(case.counts)])[case.indptr]
    taken, ranks = np.zeros(len(slot), np.uint8), np.zeros(len(slot), np.int32)
    bases = np.empty(0, np.int64) if case.bases is None else case.bases
    rules = (case.most, bases, case.ties, np.uint64(SEED), case.ranked, taken)
    for table, first, count in case.blocks():
        keys = table[row, : max(count, 1)].astype(np.int64)
        if table.shape[1] == 1:
            reference.choose_bottom(0, case.owners, indptr, neighbour, keys, first, *rules, ranks)
            continue
        reference.choose_steps(0, case.owners, indptr, neighbour, keys[:, :count], first, *rules)
        fresh = (taken != 0) & (ranks == 0)
        ranks[fresh] = first + taken[fresh].astype(np.int32)
    result = np.full(len(case.neighbour), 0 if case.ranked else 1, np.int32)
    result[slot] = ranks if case.ranked else taken != 0
    return result


def chosen(case: Selection, device, find: Callable[..., Chooser]) -> np.ndarray:
    """Which slots the kernels take that `find` finds."""
    slots = len(case.neighbour)
    quota = case.quota if isinstance(case.quota, int) else tensor(case.quota, device)
    indptr, neighbour = tensor(case.indptr, device), tensor(case.neighbour, device)
    bases, loops = (None if array is None else tensor(array, device) for array in (case.bases, case.loops))
    taken = torch.zeros(slots, dtype=torch.int32) if case.ranked else torch.ones(slots, dtype=torch.uint8)
    taken = taken.to(device)
    for table, first, count in case.blocks():
        bottom = table.shape[1] == 1
        starts = draw(SEED, TIE, np.arange(first + 1, first + 1 + (1 if bottom else max(count, 1))))
        found = find(indptr, quota, first, ranked=case.ranked, loops=loops)
        block = Block(
            indptr, neighbour, tensor(table, device), case.by_slot, quota, first, count, bases, case.ties,
            tensor(starts, device), taken, case.ranked, bottom, case.expect_ties, loops, case.origin or 0,
        )  # fmt: skip
        choose_block(block, found, found.facts.tolist())
    return taken.cpu().numpy()


def random_selection(seed: int) -> Selection:
    """Some owners, of all sizes, with any of the rules."""
    rng = np.random.default_rng(seed)
    owners, nodes, size = int(rng.integers(1, 25)), int(rng.integers(1, 200)), int(rng.choice(SIZES))
    indptr = np.concatenate([[0], np.cumsum(rng.choice(DEGREES, owners, p=SHARES))])
    neighbour = rng.integers(0, nodes, indptr[-1]).astype(rng.choice([np.int32, np.int64]))
    by_slot, per_owner, several, loops = (bool(flag) for flag in rng.integers(0, 2, 4))
    width, dtype = int(rng.choice([8, 16])), rng.choice([np.int32, np.int64])
    widths = [(1,), (width, 1), (width,) * 3, (width,) * 3][int(rng.integers(4))]
    rows = max(len(neighbour), 1) if by_slot else nodes
    return Selection(
        indptr, neighbour, tuple(rng.integers(-size, size, (rows, columns)).astype(dtype) for columns in widths),
        rng.integers(0, 21, owners) if per_owner else int(rng.integers(0, 21)), by_slot,
        rng.integers(0, 5, owners) if several else None, int(rng.integers(3)), bool(rng.integers(2)),
        bool(rng.integers(2)), int(rng.integers(0, 3)) if loops else None,
    )  # fmt: skip


def one_owner(degree: int, keys: np.ndarray, quota: int, **rules) -> Selection:
    """One owner whose edges have these keys, `[degree, columns]`; neighbours come twice."""
    neighbour = np.random.default_rng(degree).permutation(degree) // 2
    return Selection(np.array([0, degree]), neighbour, (keys,), quota, by_slot=True, **rules)


def first_come(keys: np.ndarray) -> np.ndarray:
    """The step at which each edge of one owner is taken, ties by position."""
    ranks = np.zeros(len(keys), np.int32)
    for z in range(keys.shape[1]):
        ranks[np.where(ranks == 0, keys[:, z], np.iinfo(np.int64).max).argmin()] = z + 1
    return ranks
