"""The nth smallest of many numbers, and a stable sort, both in linear time (by digits).

Heaps and comparison sorts are faster for owners with few edges; these are for hubs with up to millions of them.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel

DIGIT_BITS = 11  # bits of a digit: the counters of all digits fit in the first-level cache
DIGITS = 1 << DIGIT_BITS


@kernel
def ordered_bits(key):
    """Return an int64 as a uint64 of the same order."""
    return np.uint64(key) ^ (np.uint64(1) << np.uint64(63))


@kernel
def bit_length(value):
    """Return the number of bits of a uint64 without leading zeros."""
    bits = 0
    while value:
        value >>= np.uint64(1)
        bits += 1
    return bits


@kernel
def nth_smallest(values, count, nth):
    """Return the nth smallest (1, 2, ...) of the first `count` uint64 values, which are overwritten.

    Each round keeps the values that share the digit of the result at the highest bit in which any two differ.
    """
    counts = np.empty(DIGITS, np.int64)
    last_digit = np.uint64(DIGITS - 1)
    while True:
        low = high = values[0]
        for i in range(1, count):
            low = min(low, values[i])
            high = max(high, values[i])
        if low == high:
            return low
        shift = np.uint64(max(bit_length(low ^ high) - DIGIT_BITS, 0))
        counts[:] = 0
        for i in range(count):
            counts[np.int64((values[i] >> shift) & last_digit)] += 1
        digit = 0
        while nth > counts[digit]:
            nth -= counts[digit]
            digit += 1
        left = 0
        for i in range(count):
            value = values[i]
            if np.int64((value >> shift) & last_digit) == digit:
                values[left] = value
                left += 1
        count = left


@kernel
def sort_by(values, items, count, spare_values, spare_items):
    """Sort the first `count` uint64 values, and items along with them; equal values stay in their order."""
    either, both = np.uint64(0), ~np.uint64(0)
    for i in range(count):
        either |= values[i]
        both &= values[i]
    varying = either ^ both  # bits in which some two values differ
    last_digit = np.uint64(DIGITS - 1)
    starts = np.empty(DIGITS, np.int64)
    for first_bit in range(0, 64, DIGIT_BITS):
        shift = np.uint64(first_bit)
        if not (varying >> shift) & last_digit:
            continue
        starts[:] = 0
        for i in range(count):
            starts[np.int64((values[i] >> shift) & last_digit)] += 1
        total = 0
        for digit in range(DIGITS):
            total, starts[digit] = total + starts[digit], total
        for i in range(count):
            digit = np.int64((values[i] >> shift) & last_digit)
            spare_values[starts[digit]] = values[i]
            spare_items[starts[digit]] = items[i]
            starts[digit] += 1
        values[:count] = spare_values[:count]
        items[:count] = spare_items[:count]
