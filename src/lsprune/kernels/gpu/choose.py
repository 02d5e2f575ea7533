"""Selection on a device: the steps of a block of functions for every owner that has to choose.

The rules are those of `kernels/reference/choose.py` and `bottom.py`. Triton kernels do the work where they can; the
functions here do the same with torch, a few passes over all edges for each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import mix64, signed
from lsprune.kernels.gpu.triton_support import triton_kernels

LARGEST = torch.iinfo(torch.int64).max
MAX_BOTTOM_STEPS = 16  # with more steps by one function, sorting is faster
MAX_FACTS = 16  # numbers about what owners choose
BY_HASH, BY_ID = 0, 1  # values of `ties`; the third is by position


@dataclass(frozen=True, eq=False)
class Block:
    """A block of steps to take. All tensors are on one device."""

    indptr: Tensor  # [owners + 1] int64
    neighbour: Tensor  # [slots]
    table: Tensor  # [rows, 8 or 16] int32 or int64 keys; [rows, 1] with `bottom`
    by_slot: bool  # a row of the table is a slot; else a neighbour
    quota: Tensor | int  # the most edges of each owner
    first: int  # steps taken before
    count: int  # steps to take at most
    bases: Tensor | None  # [owners] what to subtract from a neighbour to get its id within its graph
    ties: int
    starts: Tensor  # [count] int64: what the tie hash of each step starts from
    taken: Tensor  # [slots] uint8; int32 ranks with `ranked`
    ranked: bool
    bottom: bool = False  # all steps use the first key
    expect_ties: bool = False  # equal keys are common
    loops: Tensor | None = None  # [owners] self-loops of each owner, which are among the slots and stay as they are
    origin: int = 0  # id of the first owner

    def most(self) -> Tensor:
        """Return the quota of each owner, `[owners]` int64."""
        if isinstance(self.quota, Tensor):
            return self.quota.long()
        return torch.full((self.indptr.shape[0] - 1,), self.quota, dtype=torch.int64, device=self.indptr.device)


@dataclass(frozen=True, eq=False)
class Chooser:
    """The owners that have to choose, sorted into classes where Triton needs them."""

    facts: Tensor  # int64
    lists: Tensor | None
    kernels: Any

    @property
    def kept_at(self) -> int:
        """Index among the facts of the number of edges that owners keep by their quotas."""
        return int(self.facts.shape[0]) - 4


def chooser(
    indptr: Tensor, quota: Tensor | int, first: int, *, ranked: bool, loops: Tensor | None = None,
    facts: Tensor | None = None,
) -> Chooser:  # fmt: skip
    """Find the owners with a choice after `first` steps. Facts are how many there are, by class, and four numbers more.

    These are the edges that owners keep, the most steps of an owner with a choice, the chunks of hubs, and the owners
    of self-loops alone.

    Args:
        facts: where to count, `[MAX_FACTS]` int64 zeros.
    """
    facts = torch.zeros(MAX_FACTS, dtype=torch.int64, device=indptr.device) if facts is None else facts
    kernels = triton_kernels("choose_triton", indptr.device)
    if kernels is not None:
        lists = kernels.classify(indptr, quota, first, facts, ranked=ranked, loops=loops)
        return Chooser(facts[: kernels.FACTS], lists, kernels)
    degree = indptr.diff() if loops is None else indptr.diff() - loops
    kept = torch.minimum(degree, torch.as_tensor(quota, device=degree.device))
    chooses = kept > first if ranked else degree > kept
    steps = (kept * chooses).max() if degree.numel() else degree.sum()
    alone = ((degree == 0) & (indptr.diff() > 0)).sum()
    facts[:5] = torch.stack([chooses.sum(), kept.sum(), steps, steps * 0, alone])
    return Chooser(facts[:5], None, None)


def choose_block(block: Block, found: Chooser, facts: list[int]) -> None:
    """Take the steps of the block; `facts` are those of the chooser, on the host."""
    if not any(facts[: found.kept_at]):
        return
    if block.bottom and (block.ranked or block.count > MAX_BOTTOM_STEPS):
        _in_order(block)
    elif found.kernels is not None:
        found.kernels.choose_block(block, facts, found.lists)
    else:
        _step_by_step(block)


def _slots(block: Block) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return (owner, row of the table, local neighbour id, whether it can still be taken) of every slot."""
    degree, slots = block.indptr.diff(), block.neighbour.shape[0]
    owner = torch.repeat_interleave(degree, output_size=slots)
    degree = degree if block.loops is None else degree - block.loops
    local = block.neighbour.long()
    row = torch.arange(slots, device=owner.device) if block.by_slot else local
    if block.bases is not None:
        local = local - block.bases[owner]
    most = block.most()
    chooses = torch.minimum(most, degree) > block.first if block.ranked else degree > most
    free = chooses[owner]
    if block.first or block.ranked:
        free = free & (block.taken == 0)
    if block.loops is not None:
        free = free & (block.neighbour != owner + block.origin)
    return owner, row, local, free


def _step_by_step(block: Block) -> None:
    owner, row, local, free = _slots(block)
    most, slot = block.most()[owner], torch.arange(owner.shape[0], device=owner.device)
    if not block.ranked and block.first == 0:
        block.taken[free] = 0
    for z in range(block.count):
        key = block.table[row, 0 if block.bottom else z].long()
        wins = _smallest(key, free & (most > block.first + z), owner, block)
        if block.ties == BY_HASH:
            wins = _smallest(_tie_hash(block, 0 if block.bottom else z, local), wins, owner, block)
        elif block.ties == BY_ID:
            wins = _smallest(local, wins, owner, block)
        wins = _smallest(slot, wins, owner, block)
        block.taken[wins] = block.first + z + 1 if block.ranked else 1
        free = free & ~wins


def _tie_hash(block: Block, z: int, local: Tensor) -> Tensor:
    """Return the hash that orders equal keys, as a signed number in the order of the unsigned one."""
    return mix64(block.starts[z] ^ local) ^ signed(1 << 63)


def _smallest(values: Tensor, among: Tensor, owner: Tensor, block: Block) -> Tensor:
    """Mark those of each owner that have its smallest value."""
    least = torch.full((block.indptr.shape[0] - 1,), LARGEST, dtype=torch.int64, device=owner.device)
    least.scatter_reduce_(0, owner[among], values[among], "amin")
    return among & (values == least[owner])


def _in_order(block: Block) -> None:
    """Take all steps by one function: sort the free edges of all owners by it."""
    owner, row, local, free = _slots(block)
    slot = free.nonzero()[:, 0]
    order = torch.arange(slot.shape[0], device=slot.device)
    if block.ties == BY_HASH:
        order = torch.argsort(_tie_hash(block, 0, local[slot]), stable=True)
    elif block.ties == BY_ID:
        order = torch.argsort(local[slot], stable=True)
    order = order[torch.argsort(block.table[row[slot[order]], 0], stable=True)]
    order = slot[order[torch.argsort(owner[slot[order]], stable=True)]]
    of_order = owner[order]
    begins = torch.searchsorted(of_order, torch.arange(block.indptr.shape[0] - 1, device=slot.device))
    rank = torch.arange(order.shape[0], device=slot.device) - begins[of_order]
    wins = rank < torch.minimum(block.most() - block.first, torch.tensor(block.count, device=slot.device))[of_order]
    if not block.ranked and block.first == 0:
        block.taken[slot] = 0
    block.taken[order[wins]] = (rank[wins] + block.first + 1).to(block.taken.dtype) if block.ranked else 1
