"""The counter-based generator behind every random choice: splitmix64 of (seed, purpose, counter, ...).

It has no state: a value depends on its counters alone, so any executor may compute any part in any order.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from lsprune.graph import Array

GOLDEN = 0x9E3779B97F4A7C15  # constants of splitmix64
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
_MASK = (1 << 64) - 1

# The purposes of a draw: the first counter, so that no two uses share a value.
TIE, OWNER, WEIGHT, ENTRY, OFFSET, THRESHOLD, CODE, AFFINE, CATEGORY, EDGE, IDENTITY = range(1, 12)
WORD, SAMPLE, TWIN, SIGN, SHAPE, NOISE, PROJECT, MINHASH, TREE, PAIR, TEACH, CHOOSE = range(12, 24)


def mix64(value: Array) -> Array:
    """Return splitmix64 of each uint64; of a tensor too, whose int64 are read as uint64."""
    if is_tensor(value):
        mixed: Array = _of_tensors().mix64(value)
        return mixed
    with np.errstate(over="ignore"):
        value = value + np.uint64(GOLDEN)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
        return np.asarray(value ^ (value >> np.uint64(31)))


def draw(seed: int, *counters: Any) -> Array:
    """Return uint64 draws for the counters: integers or integer arrays that broadcast.

    If one of them is a tensor, the draws are a tensor of int64 with the same bits, on its device.

    >>> int(draw(0, 1, 2)) == int(draw(0, 1, [2, 3])[0])
    True
    """
    tensor = next((counter for counter in counters if is_tensor(counter)), None)
    if tensor is not None:
        draws: Array = _of_tensors().draw(seed, counters, tensor.device)
        return draws
    value = mix64(np.asarray(seed & _MASK, dtype=np.uint64))
    for counter in counters:
        numbers = np.asarray(counter)
        if numbers.dtype != np.uint64:
            numbers = np.atleast_1d(numbers).astype(np.int64).view(np.uint64).reshape(numbers.shape)
        value = mix64(value ^ numbers)
    return value


def high_bits(draws: Array, bits: int) -> Array:
    """Return the highest bits of each draw, as int64.

    >>> int(high_bits(np.array([2**63], np.uint64), 2)[0])
    2
    """
    if is_tensor(draws):
        shifted: Array = _of_tensors().shift_right(draws, 64 - bits)
        return shifted
    return (draws >> np.uint64(64 - bits)).astype(np.int64)


def modulo(draws: Array, divisor: int) -> Array:
    """Return each draw modulo a number in [1, 2^63), as int64.

    >>> int(modulo(np.array([2**64 - 1], np.uint64), 10)[0])
    5
    """
    if is_tensor(draws):
        rest: Array = _of_tensors().modulo(draws, divisor)
        return rest
    return (draws % np.uint64(divisor)).astype(np.int64)


def is_tensor(value: Any) -> bool:
    """Return whether this is a torch tensor, without importing torch."""
    return hasattr(value, "is_cuda")


def _of_tensors() -> Any:
    return import_module("lsprune.kernels.gpu.splitmix")


def below(values: Array, bound: int) -> Array:
    """Turn each draw into an integer in [0, bound), bound <= 2^32: the high half of a 32 x 32-bit product."""
    high = values >> np.uint64(32)
    return ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)
