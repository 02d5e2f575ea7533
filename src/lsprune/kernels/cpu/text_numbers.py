"""Numbers of texts in the order in which they first appear, by a hash table with open addressing.

A slot holds 0 if it is free, else a tag of 32 bits of the hash and the number of a text, plus 1. Texts with equal tags
are compared byte by byte: two different texts never share a number.
"""

from __future__ import annotations

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.cpu.jit import kernel

NUMBER_BITS = np.uint64(32)
NUMBER_MASK = np.uint64(2**32 - 1)
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


def number_texts(
    columns: tuple[tuple[Array, Array], ...], slots: Array, starts: Array, store: Array, count: int,
    out: tuple[Array, ...], add: bool,
) -> int:  # fmt: skip
    """Fill `out` with the numbers of texts; return how many texts have numbers now. See the reference."""
    first, second = columns[0], columns[-1]
    both = len(columns) == 2
    return int(_number(*first, *second, both, slots, starts, store, count, out[0], out[-1], add))


@kernel
def hash_texts(starts, store, count, slots):
    """Fill an empty table of hashes with the first `count` texts."""
    last = np.uint64(slots.shape[0] - 1)
    for number in range(count):
        hashed = _hash(store, starts[number], starts[number + 1])
        at = hashed & last
        while slots[at] != 0:
            at = (at + np.uint64(1)) & last
        slots[at] = ((hashed >> NUMBER_BITS) << NUMBER_BITS) | np.uint64(number + 1)


@kernel
def _hash(data, start, stop):
    """Return a hash of some bytes; it decides where a text is looked for, and nothing else."""
    hashed = np.uint64(stop - start) * FACTOR
    for at in range(start, stop):
        hashed = (hashed ^ np.uint64(data[at])) * FACTOR
        hashed ^= hashed >> SHIFT
    return hashed


@kernel
def _find(data, start, stop, slots, starts, store, hashed):
    """Return the slot of a text, or the free slot where it belongs."""
    last = np.uint64(slots.shape[0] - 1)
    tag, at = hashed >> NUMBER_BITS, hashed & last
    while slots[at] != 0:
        if slots[at] >> NUMBER_BITS == tag:
            begin = starts[np.int64(slots[at] & NUMBER_MASK) - 1]
            if starts[np.int64(slots[at] & NUMBER_MASK)] - begin == stop - start:
                same = True
                for i in range(stop - start):
                    if store[begin + i] != data[start + i]:
                        same = False
                        break
                if same:
                    return at
        at = (at + np.uint64(1)) & last
    return at


@kernel
def _number_one(data, start, stop, slots, starts, store, count, add):
    """Return the number of a text, -1 if it has none; the next free number if it is added."""
    hashed = _hash(data, start, stop)
    at = _find(data, start, stop, slots, starts, store, hashed)
    if slots[at] != 0:
        return np.int64(slots[at] & NUMBER_MASK) - 1
    if not add:
        return -1
    begin = starts[count]
    for i in range(stop - start):
        store[begin + i] = data[start + i]
    starts[count + 1] = begin + stop - start
    slots[at] = ((hashed >> NUMBER_BITS) << NUMBER_BITS) | np.uint64(count + 1)
    return count


@kernel
def _number(offsets, data, other_offsets, other_data, both, slots, starts, store, count, numbers, other_numbers, add):
    for row in range(numbers.shape[0]):
        number = _number_one(data, offsets[row], offsets[row + 1], slots, starts, store, count, add)
        count += number == count
        numbers[row] = number
        if both:
            number = _number_one(
                other_data, other_offsets[row], other_offsets[row + 1], slots, starts, store, count, add
            )
            count += number == count
            other_numbers[row] = number
    return count
