"""Selection: step z takes the edge with the smallest key of function z. Read `choose` first; ties are in `ties`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprune.graph import Array
from lsprune.kernels.reference.ties import tie_order


def choose(slots: list[int], order: Callable[[int, int], Any], steps: int, replace: bool = False) -> dict[int, int]:
    """Return {slot: step at which it is taken} for one owner: each step takes the first of the slots that are left.

    Args:
        slots: the places of the owner's edges.
        order: order(step, slot) is what step 1, 2, ... sorts by: the key, then the tie rule.
        replace: a step may take a slot again (Algorithm 1 of the paper); then only its first step counts.
    """
    taken: dict[int, int] = {}
    for step in range(1, steps + 1):
        left = slots if replace else [slot for slot in slots if slot not in taken]
        if not left:
            break
        winner = min(left, key=lambda slot: order(step, slot))
        taken.setdefault(winner, step)
    return taken


def _choose_owners(
    lo: int, hi: int, indptr: Array, neighbour: Array, key: Callable[[int, int], int], first: int, width: int,
    quota: Array, bases: Array, ties: int, seed: int, ranked: bool, taken: Array, replace: bool = False,
) -> None:  # fmt: skip
    """Set taken[slot] to the step within this block, for the owners lo..hi; key(slot, z) is the key of step z + 1.

    The owner's quota limits its steps. Slots taken in an earlier block are skipped. Unless `ranked`, an owner whose
    quota covers its degree keeps all its edges and no key is computed. Ties go by ids that count from bases[owner].
    """
    for u in range(lo, hi):
        base = int(bases[u]) if len(bases) else 0

        def order(step: int, slot: int, base: int = base) -> tuple[int, ...]:
            tie = tie_order(ties, seed, first + step, int(neighbour[slot]) - base, slot)
            return (int(key(slot, step - 1)), *tie)

        everything = range(int(indptr[u]), int(indptr[u + 1]))
        if not ranked and not replace and quota[u] >= len(everything):
            taken[everything.start : everything.stop] = 1
            continue
        slots = [slot for slot in everything if replace or taken[slot] == 0]
        for slot, step in choose(slots, order, min(width, int(quota[u]) - first), replace).items():
            if taken[slot] == 0:
                taken[slot] = step


def choose_nodes(
    lo: int, hi: int, indptr: Array, neighbour: Array, table: Array, first: int, width: int, quota: Array, bases: Array,
    ties: int, seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """Take the steps first+1 .. first+width of the owners lo..hi, with the keys table[neighbour, z]."""
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: table[neighbour[slot], z], first, width, quota, bases,
                   ties, seed, ranked, taken)  # fmt: skip


def choose_steps(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """Take the steps first+1, first+2, ... of the owners lo..hi, with the keys keys[slot - indptr[lo], z]."""
    origin = int(indptr[lo])
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: keys[slot - origin, z], first, keys.shape[1], quota,
                   bases, ties, seed, ranked, taken)  # fmt: skip


def choose_with_replacement(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """Do the same with replacement, as Algorithm 1 of the paper: taken are the winners of all steps together."""
    origin = int(indptr[lo])
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: keys[slot - origin, z], first, keys.shape[1], quota,
                   bases, ties, seed, ranked, taken, replace=True)  # fmt: skip
