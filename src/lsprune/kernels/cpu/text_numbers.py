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
BLOCK_ROWS = 1 << 9  # texts that are looked for at a time


def number_texts(
    columns: tuple[tuple[Array, Array], ...], slots: Array, starts: Array, store: Array, count: int,
    out: tuple[Array, ...], add: bool,
) -> int:  # fmt: skip
    """Fill `out` with the numbers of texts; return how many texts have numbers now. See the reference."""
    first, second = columns[0], columns[-1]
    both = len(columns) == 2
    return int(_number(*first, *second, both, slots, starts, store, count, out[0], out[-1], add)[0])


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
    hashed, at = np.uint64(stop - start) * FACTOR, start
    while at + 8 <= stop:
        word = np.uint64(0)
        for i in range(8):
            word |= np.uint64(data[at + i]) << np.uint64(8 * i)
        hashed = (hashed ^ word) * FACTOR
        hashed ^= hashed >> SHIFT
        at += 8
    word = np.uint64(0)
    for i in range(stop - at):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    hashed = (hashed ^ word) * FACTOR
    return hashed ^ (hashed >> SHIFT)


@kernel
def _is_text(slot, data, start, stop, starts, store):
    """Return whether the text of a slot that is not free is this one."""
    number = np.int64(slot & NUMBER_MASK) - 1
    begin = starts[number]
    if starts[number + 1] - begin != stop - start:
        return False
    for i in range(stop - start):  # noqa: SIM110  (numba has no generators here)
        if store[begin + i] != data[start + i]:
            return False
    return True


@kernel
def _number_one(data, start, stop, slots, starts, store, count, add, hashed):
    """Return the number of a text, -1 if it has none; the next free number if it is added."""
    last = np.uint64(slots.shape[0] - 1)
    tag, at = hashed >> NUMBER_BITS, hashed & last
    while slots[at] != 0:
        if slots[at] >> NUMBER_BITS == tag and _is_text(slots[at], data, start, stop, starts, store):
            return np.int64(slots[at] & NUMBER_MASK) - 1
        at = (at + np.uint64(1)) & last
    if not add:
        return -1
    begin = starts[count]
    for i in range(stop - start):
        store[begin + i] = data[start + i]
    starts[count + 1] = begin + stop - start
    slots[at] = (tag << NUMBER_BITS) | np.uint64(count + 1)
    return count


@kernel
def _look(offsets, data, lo, hi, slots, starts, store, hashes):
    """Fill in the hashes of the texts lo..hi, and read what will be needed to find them.

    Memory is read here for many texts at a time, so that the processor does not wait for one after the other.
    """
    last = np.uint64(slots.shape[0] - 1)
    for row in range(lo, hi):
        hashes[row - lo] = _hash(data, offsets[row], offsets[row + 1])
    places = np.int64(0)
    for row in range(lo, hi):
        slot = slots[hashes[row - lo] & last]
        places += starts[max(np.int64(slot & NUMBER_MASK) - 1, 0)]
    letters = np.uint64(0)
    for row in range(lo, hi):
        slot = slots[hashes[row - lo] & last]
        letters += store[starts[max(np.int64(slot & NUMBER_MASK) - 1, 0)]]
    return np.uint64(places) + letters  # a result, so that the reads are not left out


@kernel
def _number(offsets, data, other_offsets, other_data, both, slots, starts, store, count, numbers, other_numbers, add):
    hashes, other_hashes = np.empty(BLOCK_ROWS, np.uint64), np.empty(BLOCK_ROWS, np.uint64)
    rows, seen = numbers.shape[0], np.uint64(0)
    for lo in range(0, rows, BLOCK_ROWS):
        hi = min(lo + BLOCK_ROWS, rows)
        seen += _look(offsets, data, lo, hi, slots, starts, store, hashes)
        if both:
            seen += _look(other_offsets, other_data, lo, hi, slots, starts, store, other_hashes)
        for row in range(lo, hi):
            start, stop, hashed = offsets[row], offsets[row + 1], hashes[row - lo]
            number = _number_one(data, start, stop, slots, starts, store, count, add, hashed)
            count += number == count
            numbers[row] = number
            if both:
                start, stop, hashed = other_offsets[row], other_offsets[row + 1], other_hashes[row - lo]
                number = _number_one(other_data, start, stop, slots, starts, store, count, add, hashed)
                count += number == count
                other_numbers[row] = number
    return count, seen
