"""Selection by one key (`select="bottom"`): all steps together take the smallest keys of the same function."""

from __future__ import annotations

from lsprune.graph import Array
from lsprune.kernels.reference.ties import tie_order


def choose_bottom(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array, ranks: Array,
) -> None:  # fmt: skip
    """Take the steps first+1, first+2, ... of the owners lo..hi, all by the key keys[slot - indptr[lo], 0].

    taken[slot] becomes 1 and, with `ranked`, ranks[slot] the step. Slots that are taken already are skipped.
    """
    origin = int(indptr[lo])
    for u in range(lo, hi):
        base = int(bases[u]) if len(bases) else 0
        slots = range(int(indptr[u]), int(indptr[u + 1]))
        left = [slot for slot in slots if taken[slot] == 0]

        def order(slot: int, base: int = base) -> tuple[int, ...]:
            tie = tie_order(ties, seed, first + 1, int(neighbour[slot]) - base, slot)
            return (int(keys[slot - origin, 0]), *tie)

        for rank, slot in enumerate(sorted(left, key=order)[: max(int(quota[u]) - first, 0)], first + 1):
            taken[slot] = 1
            if ranked:
                ranks[slot] = rank
