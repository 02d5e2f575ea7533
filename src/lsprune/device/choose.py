"""Which edges each owner takes, on a device: steps in blocks, and the steps beyond the last hash function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from lsprune.device.graph_numbers import GraphNumbers
from lsprune.device.owners import DeviceOwned
from lsprune.device.transfers import Transfer
from lsprune.graph import Array
from lsprune.hashing.base import BLOCK_FUNCTIONS, Keys, NodeKeys
from lsprune.hashing.device_keys import padded
from lsprune.kernels.gpu.choose import MAX_FACTS, Block, Chooser, choose_block, chooser
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
    first: int = 0  # steps before which `found` counts
    origin: int = 0  # id of the first owner

    @classmethod
    def of(
        cls, owned: DeviceOwned, quota: Tensor | int, bases: Tensor | None, seed: int, *, ranked: bool,
        numbers: GraphNumbers | None = None, meanwhile: Callable[[], Any] = lambda: None,
    ) -> tuple[Choice, Any]:  # fmt: skip
        """Count the owners with a choice, with the numbers of the graph where those are free.

        `meanwhile` is called before the numbers are waited for.
        """
        indptr: Any = owned.indptr
        area = None if numbers is None else numbers.take_choices()
        found = chooser(indptr, quota, 0, ranked=ranked, loops=owned.loops, facts=area)
        begun = Transfer(found.facts) if area is None or numbers is None else numbers.begin_both()
        result = meanwhile()
        facts = begun.numbers()[-MAX_FACTS:][: found.facts.shape[0]]
        return cls(owned, quota, bases, seed, ranked, found, facts), result

    def part(self, lo: int, hi: int, first: int) -> Choice:
        """Return the choice of the owners lo..hi alone, after `first` steps."""
        start, stop = self.owned.bounds(lo, hi)
        indptr = cast(Any, self.owned.indptr)[lo : hi + 1] - start
        loops = None if self.owned.loops is None else self.owned.loops[lo:hi]
        owned = DeviceOwned(indptr, self.owned.neighbour[start:stop], None, loops=loops)
        quota = self.quota if isinstance(self.quota, int) else self.quota[lo:hi]
        bases = None if self.bases is None else self.bases[lo:hi]
        found = chooser(indptr, quota, first, ranked=self.ranked, loops=loops)
        return Choice(owned, quota, bases, self.seed, self.ranked, found, found.facts.tolist(), first, lo)

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
        return self.facts[self.found.kept_at + 1]


def choose(
    choice: Choice, source: KeySource, first_keys: Keys | None = None, stop: Callable[[Tensor], bool] | None = None
) -> Tensor:
    """Return for each slot 0 if it is not taken, else another number; with `ranked`, the step at which it was taken.

    Args:
        first_keys: the keys of the first block, where they were made before.
        stop: stop(ranks) may end the work early, after any block of steps.
    """
    slots, device = int(choice.owned.neighbour.shape[0]), torch.as_tensor(choice.owned.indptr).device
    if choice.ranked:
        taken = torch.zeros(slots, dtype=torch.int32, device=device)
    else:
        taken = torch.ones(slots, dtype=torch.uint8, device=device)
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
    steps = _Steps(source, first, count, bottom)
    if keys is None:  # no step to take, and so no key
        keys = NodeKeys(cast(Any, torch.zeros((1, 8), dtype=torch.int32, device=taken.device)))
    if isinstance(keys, NodeKeys):
        steps.take(choice, cast(Any, keys.table), taken, by_slot=False)
        return
    owned, owners = choice.owned, int(choice.owned.indptr.shape[0]) - 1
    width = 1 if bottom else 8 if count <= 8 else BLOCK_FUNCTIONS
    for lo, hi in owned.blocks(EDGE_KEY_BYTES // (8 * width)):  # keys of all edges may need too much memory
        part = choice if (lo, hi) == (0, owners) else choice.part(lo, hi, first)
        start, stop = owned.bounds(lo, hi)
        table: Any = keys.of(lo, hi)
        steps.take(part, table if bottom else padded(table), taken[start:stop], by_slot=True)


@dataclass(frozen=True, eq=False)
class _Steps:
    """A block of steps, and where its keys come from."""

    source: KeySource
    first: int
    count: int
    bottom: bool

    def take(self, choice: Choice, table: Tensor, taken: Tensor, *, by_slot: bool) -> None:
        """Take these steps with the keys of a table."""
        owned, indptr = choice.owned, cast(Any, choice.owned.indptr)
        found, facts = choice.found, choice.facts
        if self.first != choice.first:
            found = chooser(indptr, choice.quota, self.first, ranked=choice.ranked, loops=owned.loops)
            facts = found.facts.tolist()
        block = Block(
            indptr, cast(Any, owned.neighbour), table[:, :1].contiguous() if self.bottom else table, by_slot,
            choice.quota, self.first, self.count, choice.bases, self.source.ties,
            constant(_tie_starts(choice.seed, self.first), indptr.device), taken, choice.ranked, self.bottom,
            self.source.repeats, owned.loops, choice.origin,
        )  # fmt: skip
        choose_block(block, found, facts)


@lru_cache(maxsize=64)
def _tie_starts(seed: int, first: int) -> Array:
    """Return what the tie hashes of the steps after the first `first` ones start from: see `reference/ties.py`."""
    starts = draw(seed, TIE, np.arange(first + 1, first + BLOCK_FUNCTIONS + 1))
    starts.setflags(write=False)
    return starts
