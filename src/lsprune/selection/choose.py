"""Which edges each owner takes: steps in blocks of 16, and the steps beyond the last hash function.

Ties between equal keys are broken in the kernels (`kernels/reference/ties.py` defines the order).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lsprune.graph import Array, Owned
from lsprune.hashing.base import BLOCK_FUNCTIONS, EdgeKeys, Keys, NodeKeys
from lsprune.kernels import Runtime
from lsprune.kernels.threads import spans
from lsprune.selection.kept_ties import with_ties
from lsprune.selection.owners import BLOCK_OWNERS, over_owners

TIES = ("hash", "id", "position")
NEVER = np.iinfo(np.int32).max  # the rank of an edge that no step took
MAX_FUNCTIONS = 256  # later steps share one function: hubs would take time in the square of their degree


@dataclass(frozen=True, eq=False)
class KeySource:
    """Where the keys of a selection come from.

    Args:
        keys: keys(first, count, total) returns the keys of the steps first+1 .. first+count out of `total`.
        bottom: every step uses the one key of step 1. replace: a step may take what an earlier one took.
        ties: index into TIES.
        check: called instead of `keys` if no owner has a choice to make, for errors that must not depend on that.
        added: what weights added to the keys of some slots, once there are keys; None without weights.
        factors: the weights of some slots by factor, as (name, numbers), where there are several; for explanations.
        functions: number of steps with a function of their own. The steps after them all go by the next function and
            its tie order, so that they take what is left from the smallest key up. None: every step has its own.
        repeats: edges often share a key, so that ties are common; it changes no result.
        keep_ties: with `bottom`, edges that are tied with the last one of an owner stay too.
    """

    keys: Callable[[int, int, int], Keys]
    bottom: bool = False
    replace: bool = False
    ties: int = 0
    check: Callable[[], None] = lambda: None
    added: Callable[[int, int], Array | None] = lambda start, stop: None
    factors: Callable[[int, int], list[tuple[str, Array]]] = lambda start, stop: []
    functions: int | None = None
    repeats: bool = False
    keep_ties: bool = False

    @classmethod
    def of_edges(cls, keys: Callable[[int, int], Array]) -> KeySource:
        """Build a source of one key for each edge, the smallest first.

        Args:
            keys: keys(lo, hi) returns int64 keys of the slots of the owners lo..hi, `[slots]`.
        """
        return cls(lambda first, count, total: EdgeKeys(lambda lo, hi: keys(lo, hi)[:, None]), bottom=True)


def has_choice(owned: Owned, quota: Array | None, k: int | None, *, replace: bool) -> bool:
    """Say whether some owner has to choose; if not, no key is ever needed.

    Args:
        quota: the most edges that each owner keeps; None for symmetric selection, which ranks edges.
    """
    if quota is None:
        return bool(owned.neighbour.shape[0]) and k != 0
    return _steps_needed(owned.indptr, quota, ranked=False, replace=replace) > 0


def choose(
    owned: Owned, quota: Array, source: KeySource, bases: Array, seed: int, runtime: Runtime, *, ranked: bool,
    stop: Callable[[Array], bool] | None = None,
) -> Array:  # fmt: skip
    """Return for each slot 0 if it is not taken, else another number; with `ranked`, the step at which it was taken.

    Args:
        stop: stop(ranks) may end the work early, after any block of steps.
    """
    start = np.uint64(seed & (2**64 - 1))
    slots = owned.neighbour.shape[0]
    taken = runtime.zeros(slots, np.uint8)
    ranks = runtime.zeros(slots if ranked else 0, np.int32)
    if source.bottom:
        keys = source.keys(0, 1, 1)
        quota = open_quotas(owned, quota, source, runtime)
        _choose_in_order(keys, owned, quota, source, bases, start, runtime, ranked, 0, taken, ranks)
        return ranks if ranked else taken
    needed = _steps_needed(owned.indptr, quota, ranked=ranked, replace=source.replace)
    if needed == 0:  # no owner has to choose: no key is needed
        source.check()
        for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
            degree = np.diff(owned.indptr[lo : hi + 1])
            taken[owned.indptr[lo] : owned.indptr[hi]] = np.repeat(degree <= quota[lo:hi], degree)
        return ranks if ranked else taken
    by_functions = needed if source.functions is None else min(needed, source.functions)
    for first in range(0, by_functions, BLOCK_FUNCTIONS):
        count = min(BLOCK_FUNCTIONS, by_functions - first)
        _choose_block(owned, quota, source, bases, start, runtime, ranked, first, count, needed, taken)
        if ranked:
            runtime.spread(slots, lambda lo, hi, first=first: _store_ranks(taken[lo:hi], first, ranks[lo:hi]))  # type: ignore[misc]
            if stop is not None and stop(ranks):
                return ranks
    if needed > by_functions:
        keys = source.keys(by_functions, 1, needed)
        _choose_in_order(keys, owned, quota, source, bases, start, runtime, ranked, by_functions, taken, ranks)
    return ranks if ranked else taken


def open_quotas(owned: Owned, quota: Array, source: KeySource, runtime: Runtime) -> Array:
    """Return the quotas; where ties are kept, with room for all edges that are tied with the last one."""
    if not source.keep_ties:
        return quota
    keys = edge_keys(source.keys(0, 1, 1), owned, 0, quota.shape[0])
    return with_ties(owned, quota, keys[:, 0], runtime)


def _choose_in_order(
    keys: Keys, owned: Owned, quota: Array, source: KeySource, bases: Array, seed: np.uint64, runtime: Runtime,
    ranked: bool, first: int, taken: Array, ranks: Array,
) -> None:  # fmt: skip
    """Take all steps after the first `first` ones in the order of one function."""
    over_owners(owned, runtime, lambda lo, hi: runtime.module.choose_bottom(
        lo, hi, owned.indptr, owned.neighbour, edge_keys(keys, owned, lo, hi), first, quota, bases, source.ties, seed,
        ranked, taken, ranks), _have_steps_left(owned, quota, first, ranked))  # fmt: skip


def _have_steps_left(owned: Owned, quota: Array, first: int, ranked: bool) -> Callable[[int, int], bool] | None:
    """Return a test whether any of the owners lo..hi has a step after the first `first` ones; None if most have."""
    if first == 0 and not ranked:
        return None

    def left(lo: int, hi: int) -> bool:
        return bool((np.minimum(quota[lo:hi], np.diff(owned.indptr[lo : hi + 1])) > first).any())

    return left


def _steps_needed(indptr: Array, quota: Array, *, ranked: bool, replace: bool) -> int:
    """Return the most steps that an owner with a choice has; the others keep all edges."""
    most = 0
    for lo, hi in spans(quota.shape[0], BLOCK_OWNERS):
        degree, most_kept = np.diff(indptr[lo : hi + 1]), quota[lo:hi]
        limited = np.minimum(most_kept, degree) if ranked else most_kept * (degree > most_kept)
        steps = most_kept if replace else limited
        most = max(most, int(steps.max(initial=0)))
    return most


def _store_ranks(taken: Array, first: int, ranks: Array) -> None:
    """Store the rank of the slots that this block of steps took."""
    fresh = (taken != 0) & (ranks == 0)
    ranks[fresh] = taken[fresh].astype(np.int32) + first


def _choose_block(
    owned: Owned, quota: Array, source: KeySource, bases: Array, seed: np.uint64, runtime: Runtime, ranked: bool,
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
    kernel = module.choose_with_replacement if source.replace else module.choose_steps
    left = None if source.replace else _have_steps_left(owned, quota, first, ranked)
    over_owners(owned, runtime, lambda lo, hi: kernel(
        lo, hi, owned.indptr, owned.neighbour, edge_keys(keys, owned, lo, hi, count), first, quota, bases, source.ties,
        seed, ranked, taken), left)  # fmt: skip


def edge_keys(keys: Keys, owned: Owned, lo: int, hi: int, count: int = 1) -> Array:
    """Return the keys of all slots of the owners lo..hi, `[slots, count]` int64."""
    if isinstance(keys, EdgeKeys):
        return keys.of(lo, hi)
    rows = owned.neighbour[owned.indptr[lo] : owned.indptr[hi]]
    return keys.table[rows, :count].astype(np.int64)
