"""The tie rule: which of an owner's edges goes first when their keys are equal."""

from __future__ import annotations

from lsprune.kernels.reference.splitmix import mix
from lsprune.numeric.random_numbers import TIE

BY_HASH, BY_ID, BY_POSITION = 0, 1, 2  # the values of `ties`, in the order of the option's names


def tie_order(ties: int, seed: int, step: int, neighbour: int, slot: int) -> tuple[int, ...]:
    """Return what edges with equal keys are sorted by: a hash of the neighbour and its id, its id, or the position.

    Edges that are equal in all of this are parallel edges: the first one in the caller's order wins.
    """
    if ties == BY_POSITION:
        return (slot,)
    if ties == BY_ID:
        return (neighbour, slot)
    return (mix(mix(mix(mix(int(seed)) ^ TIE) ^ step) ^ neighbour), neighbour, slot)
