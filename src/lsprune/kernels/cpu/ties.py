"""The tie rule, as `reference.ties` defines it: which of two edges with equal keys goes first."""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.splitmix import mix
from lsprune.kernels.reference.ties import BY_HASH, BY_POSITION
from lsprune.numeric.random_numbers import TIE


@kernel
def tie_hash(seed, step, id):
    """Return what BY_HASH orders neighbours by."""
    return mix(mix(mix(mix(seed) ^ np.uint64(TIE)) ^ np.uint64(step)) ^ np.uint64(id))


@kernel
def tied_before(ties, seed, step, id_a, id_b, slot_a, slot_b):
    """Return whether a goes before b when their keys of this step (1, 2, ...) are equal."""
    if ties != BY_POSITION and id_a != id_b:
        if ties == BY_HASH:
            hash_a, hash_b = tie_hash(seed, step, id_a), tie_hash(seed, step, id_b)
            if hash_a != hash_b:
                return hash_a < hash_b
        return id_a < id_b
    return slot_a < slot_b
