"""Selection by one key (`select="bottom"`): the smallest keys of an owner, by a heap or by digits.

Owners are independent, so threads with a range of owners each do not race. Ties as in `ties.tied_before`.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.radix_select import nth_smallest, ordered_bits, sort_by
from lsprune.kernels.cpu.ties import tie_hash, tied_before
from lsprune.kernels.reference.ties import BY_HASH, BY_ID

MAX_HEAP_EDGES = 128  # up to so many kept edges: a heap; above: digits, whose time does not depend on that number
BY_KEY, BY_TIE_HASH, BY_NEIGHBOUR = 0, 1, 2  # the levels that slots are ordered by; then by position


@kernel
def comes_before(a, b, keys, origin, neighbour, base, ties, seed, step):
    """Return whether slot a goes before slot b."""
    key, other = keys[a - origin, 0], keys[b - origin, 0]
    if key != other:
        return key < other
    return tied_before(ties, seed, step, neighbour[a] - base, neighbour[b] - base, a, b)


@kernel
def sink(heap, at, size, keys, origin, neighbour, base, ties, seed, step):
    """Restore the heap, whose top is the last slot in order, below position `at`."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(
            heap[child], heap[child + 1], keys, origin, neighbour, base, ties, seed, step
        ):
            child += 1
        if not comes_before(heap[at], heap[child], keys, origin, neighbour, base, ties, seed, step):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@kernel
def smallest_by_heap(start, stop, keys, origin, neighbour, base, ties, seed, step, size, heap, taken):
    """Put the first `size` of an owner's slots that are not taken on the heap."""
    filled = 0
    for slot in range(start, stop):
        if taken[slot]:
            continue
        if filled < size:
            heap[filled] = slot
            filled += 1
            if filled == size:
                for at in range(size // 2 - 1, -1, -1):
                    sink(heap, at, size, keys, origin, neighbour, base, ties, seed, step)
        elif comes_before(slot, heap[0], keys, origin, neighbour, base, ties, seed, step):
            heap[0] = slot
            sink(heap, 0, size, keys, origin, neighbour, base, ties, seed, step)


@kernel
def slot_value(slot, level, keys, origin, neighbour, base, seed, step):
    """Return what a slot is ordered by at one level, as a uint64."""
    if level == BY_KEY:
        return ordered_bits(keys[slot - origin, 0])
    if level == BY_TIE_HASH:
        return tie_hash(seed, step, neighbour[slot] - base)
    return np.uint64(neighbour[slot] - base)


@kernel
def level_is_used(ties, level):
    """Return whether this level takes part in the order."""
    return level == BY_KEY or (level == BY_TIE_HASH and ties == BY_HASH) or (level == BY_NEIGHBOUR and ties <= BY_ID)


@kernel
def take_smallest(start, stop, keys, origin, neighbour, base, ties, seed, step, size, slots, values, taken):
    """Take the first `size` of an owner's slots that are not taken.

    These are all below a limit, then those equal to it by the next level of the order.
    """
    count = 0
    for slot in range(start, stop):
        if taken[slot] == 0:
            slots[count] = slot
            count += 1
    for level in range(3):
        if size >= count:
            break
        if not level_is_used(ties, level):
            continue
        for i in range(count):
            values[i] = slot_value(slots[i], level, keys, origin, neighbour, base, seed, step)
        limit = nth_smallest(values, count, size)
        equal = 0
        for i in range(count):
            value = slot_value(slots[i], level, keys, origin, neighbour, base, seed, step)
            if value < limit:
                taken[slots[i]] = 1
                size -= 1
            elif value == limit:
                slots[equal] = slots[i]
                equal += 1
        count = equal
    for i in range(min(size, count)):  # what is equal in everything: by position
        taken[slots[i]] = 1


@kernel
def rank_taken(start, stop, keys, origin, neighbour, base, ties, seed, step, slots, values, taken, ranks):
    """Set ranks[slot] to step, step + 1, ... for the taken slots of an owner that have no rank yet, in order."""
    spare_slots, spare_values = np.empty(stop - start, np.int64), np.empty(stop - start, np.uint64)
    for lowest_level in (BY_KEY, BY_NEIGHBOUR):  # ties are rare: look first whether there are any
        count = 0
        for slot in range(start, stop):
            if taken[slot] and ranks[slot] == 0:
                slots[count] = slot
                count += 1
        for level in range(lowest_level, -1, -1):
            if level_is_used(ties, level):
                for i in range(count):
                    values[i] = slot_value(slots[i], level, keys, origin, neighbour, base, seed, step)
                sort_by(values, slots, count, spare_values, spare_slots)
        tied = False
        for i in range(1, count):
            tied |= values[i] == values[i - 1]
        if not tied:
            break
    for i in range(count):
        ranks[slots[i]] = step + i


@kernel
def choose_bottom(lo, hi, indptr, neighbour, keys, first, quota, bases, ties, seed, ranked, taken, ranks):
    """Take the steps first+1, first+2, ... of the owners lo..hi, all by the key keys[slot - indptr[lo], 0].

    taken[slot] becomes 1 and, with `ranked`, ranks[slot] the step. Slots that are taken already are skipped.
    """
    heap = np.empty(MAX_HEAP_EDGES, np.int64)
    slots = np.empty(0, np.int64)
    values = np.empty(0, np.uint64)
    origin, step = indptr[lo], first + 1
    for u in range(lo, hi):
        start, stop = indptr[u], indptr[u + 1]
        size = min(quota[u], stop - start) - first
        if size <= 0:
            continue
        if not ranked and quota[u] >= stop - start:
            if first == 0:
                taken[start:stop] = 1
            continue
        base = bases[u] if bases.shape[0] else np.int64(0)
        if size <= MAX_HEAP_EDGES:
            smallest_by_heap(start, stop, keys, origin, neighbour, base, ties, seed, step, size, heap, taken)
            for left in range(size, 0, -1):
                if ranked:
                    taken[heap[0]] = 1
                    ranks[heap[0]] = first + left
                    heap[0] = heap[left - 1]
                    sink(heap, 0, left - 1, keys, origin, neighbour, base, ties, seed, step)
                else:
                    taken[heap[left - 1]] = 1
            continue
        if slots.shape[0] < stop - start:
            slots, values = np.empty(stop - start, np.int64), np.empty(stop - start, np.uint64)
        take_smallest(start, stop, keys, origin, neighbour, base, ties, seed, step, size, slots, values, taken)
        if ranked:
            rank_taken(start, stop, keys, origin, neighbour, base, ties, seed, step, slots, values, taken, ranks)
