"""Which edges each owner takes, on a device: steps in blocks, and the steps beyond the last hash function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.device.owners import DeviceOwned
from lsprune.graph import Array
from lsprune.hashing.base import BLOCK_FUNCTIONS, Keys, NodeKeys
from lsprune.kernels.gpu.choose import Block, Chooser, choose_block, chooser
from lsprune.kernels.gpu.constants import constant
from lsprune.numeric.random_numbers import TIE, draw
from lsprune.selection.choose import KeySource

EDGE_KEY_BYTES = 1 << 30  # memory for keys of edges at a time


@dataclass(frozen=True, eq=False)
class Choice:
    """What the owners of a graph have to choose, before any key is made."""

    owned: DeviceOwned
    quota: Tensor | int
    bases: Tensor | None
    seed: int
    ranked: bool
    found: Chooser
    facts: list[int]

    @classmethod
    def of(
        cls, owned: DeviceOwned, quota: Tensor | int, bases: Tensor | None, seed: int, *, ranked: bool,
        meanwhile: Callable[[], Any] = lambda: None,
    ) -> tuple[Choice, Any]:  # fmt: skip
        """Count the owners with a choice. `meanwhile` is called before the numbers are waited for."""
        indptr: Any = owned.indptr
        found = chooser(indptr, quota, 0, ranked=ranked, loops=owned.loops)
        facts, event = _to_host(found.facts)
        result = meanwhile()
        if event is not None:
            event.synchronize()
        return cls(owned, quota, bases, seed, ranked, found, facts.tolist()), result

    @property
    def exists(self) -> bool:
        """Whether some owner has to choose."""
        return any(self.facts[: self.found.kept_at])

    @property
    def kept(self) -> int:
        """Number of edges that owners keep by their quotas."""
        return self.facts[self.found.kept_at]

    @property
    def loops_alone(self) -> bool:
        """Whether some owner has self-loops and no other edge."""
        return self.facts[-1] > 0

    def steps(self) -> int:
        """Return the most steps that an owner with a choice has."""
        largest = self.facts[self.found.kept_at + 1]
        if isinstance(self.quota, int):
            return min(self.quota, largest) if self.exists else 0
        degree = torch.as_tensor(self.owned.indptr).diff()
        limited = torch.minimum(self.quota, degree) if self.ranked else self.quota * (degree > self.quota)
        return int(limited.max()) if limited.numel() else 0


def _to_host(values: Tensor) -> tuple[Tensor, Any]:
    """Begin to copy a tensor to the host; return it with the event to wait for."""
    if not values.is_cuda:
        return values, None
    host = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    host.copy_(values, non_blocking=True)
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return host, event


def choose(
    choice: Choice, source: KeySource, first_keys: Keys | None = None, stop: Callable[[Tensor], bool] | None = None
) -> Tensor:
    """Return for each slot 0 if it is not taken, else another number; with `ranked`, the step at which it was taken.

    Args:
        first_keys: the keys of the first block, where they were made before.
        stop: stop(ranks) may end the work early, after any block of steps.
    """
    slots, device = int(choice.owned.neighbour.shape[0]), torch.as_tensor(choice.owned.indptr).device
    taken = torch.zeros(slots, dtype=torch.int32, device=device) if choice.ranked else torch.ones(
        slots, dtype=torch.uint8, device=device
    )  # fmt: skip
    if source.bottom:
        keys = first_keys or source.keys(0, 1, 1)  # even if no owner has a choice, for errors that depend on no choice
        if choice.exists:
            _run(choice, keys, source, 0, choice.steps(), taken, bottom=True)
        return taken
    needed = choice.steps()
    if needed == 0:
        source.check()
        if choice.exists and not choice.ranked:  # quotas of 0
            _run(choice, None, source, 0, 0, taken)
        return taken
    by_functions = needed if source.functions is None else min(needed, source.functions)
    for first in range(0, by_functions, BLOCK_FUNCTIONS):
        count = min(BLOCK_FUNCTIONS, by_functions - first)
        keys = first_keys if first == 0 and first_keys is not None else source.keys(first, count, needed)
        _run(choice, keys, source, first, count, taken)
        if stop is not None and stop(taken):
            return taken
    if needed > by_functions:
        keys = source.keys(by_functions, 1, needed)
        _run(choice, keys, source, by_functions, needed - by_functions, taken, bottom=True)
    return taken


def _run(
    choice: Choice, keys: Keys | None, source: KeySource, first: int, count: int, taken: Tensor, *, bottom: bool = False
) -> None:
    """Take the steps first+1 .. first+count of all owners."""
    owned, indptr = choice.owned, torch.as_tensor(choice.owned.indptr)
    found, facts = (choice.found, choice.facts) if first == 0 else _counted(indptr, choice, first)
    starts = constant(_tie_starts(choice.seed, first), indptr.device)
    neighbour: Any = owned.neighbour

    def block(table: Tensor, *, by_slot: bool) -> Block:
        return Block(
            indptr, neighbour, table[:, :1].contiguous() if bottom else table, by_slot, choice.quota, first, count,
            choice.bases, source.ties, starts, taken, choice.ranked, bottom, source.repeats, owned.loops,
        )  # fmt: skip

    if keys is None:
        choose_block(block(torch.zeros((1, 8), dtype=torch.int32, device=indptr.device), by_slot=False), found, facts)
    elif isinstance(keys, NodeKeys):
        choose_block(block(torch.as_tensor(keys.table), by_slot=False), found, facts)
    else:
        slots = max(EDGE_KEY_BYTES // (8 * max(count, 8)), 1)
        ranges = list(owned.blocks(slots))
        if len(ranges) <= 1:
            table = _padded(torch.as_tensor(keys.of(0, indptr.shape[0] - 1)))
            choose_block(block(table, by_slot=True), found, facts)
            return
        for lo, hi in ranges:
            _run_part(choice, keys, source, first, count, taken, lo, hi, bottom)


def _run_part(
    choice: Choice, keys: Any, source: KeySource, first: int, count: int, taken: Tensor, lo: int, hi: int, bottom: bool
) -> None:
    """Take the steps of the owners lo..hi alone: keys of all edges would need too much memory."""
    start, stop = choice.owned.bounds(lo, hi)
    indptr = torch.as_tensor(choice.owned.indptr)[lo : hi + 1] - start
    quota = choice.quota if isinstance(choice.quota, int) else choice.quota[lo:hi]
    loops = None if choice.owned.loops is None else choice.owned.loops[lo:hi]
    found = chooser(indptr, quota, first, ranked=choice.ranked, loops=loops)
    table = _padded(torch.as_tensor(keys.of(lo, hi)))
    starts = constant(_tie_starts(choice.seed, first), indptr.device)
    neighbour: Any = choice.owned.neighbour[start:stop]
    bases = None if choice.bases is None else choice.bases[lo:hi]
    block = Block(
        indptr, neighbour, table[:, :1].contiguous() if bottom else table, True, quota, first, count, bases,
        source.ties, starts, taken[start:stop], choice.ranked, bottom, source.repeats, loops, lo,
    )  # fmt: skip
    choose_block(block, found, found.facts.tolist())


def _counted(indptr: Tensor, choice: Choice, first: int) -> tuple[Chooser, list[int]]:
    found = chooser(indptr, choice.quota, first, ranked=choice.ranked, loops=choice.owned.loops)
    return found, found.facts.tolist()


def _padded(table: Tensor) -> Tensor:
    """Return keys of edges with 8 or 16 columns, as the kernels want them."""
    width = table.shape[1]
    wanted = 8 if width <= 8 else 16
    return table.contiguous() if width == wanted else torch.nn.functional.pad(table, (0, wanted - width))


def _tie_starts(seed: int, first: int) -> Array:
    """Return what the tie hashes of the steps after the first `first` ones start from: see `reference/ties.py`."""
    return draw(seed, TIE, np.arange(first + 1, first + BLOCK_FUNCTIONS + 1))
