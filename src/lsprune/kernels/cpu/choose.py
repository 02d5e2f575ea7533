"""Selection per owner: the bump chain and its shortcuts, all with the same outcome as `reference.choose`.

Owners are independent: a thread has a range of owners and writes only to the slots of their edges, so there is no race.
Equal keys: ties 0 by splitmix64(seed, step, neighbour id) then id, 1 by id, 2 by position; what is left equal goes
by position, which for parallel edges with equal keys decides nothing that can be seen.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.intrinsics import (
    at_most_8,
    at_most_16,
    fold_8,
    fold_16,
    lowest_bit,
    prefetch,
    serve_16,
    serve_32,
)
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.radix_select import nth_smallest, ordered_bits, sort_by
from lsprune.numeric.random_numbers import FIRST, GOLDEN, SECOND, TIE

BY_HASH, BY_ID, BY_POSITION = 0, 1, 2
NOBODY = np.int32(2**31 - 1)  # larger than any key
AHEAD = 12  # rows asked for in advance
TINY = 32  # up to this degree and 8 steps: all keys of the owner in registers
HEAP_MOST = 128  # up to so many kept edges: a heap; above: digits, in time that does not depend on how many are kept
SMALL = 64  # up to this degree: minima first, collisions after; above: the chain, which then rejects most edges at once


@kernel
def mix(value):
    """splitmix64 of a uint64."""
    value = value + np.uint64(GOLDEN)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(FIRST)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(SECOND)
    return value ^ (value >> np.uint64(31))


@kernel
def tied_before(ties, seed, step, id_a, id_b, slot_a, slot_b):
    """Whether a goes before b when their keys of this step (1, 2, ...) are equal."""
    if ties != BY_POSITION and id_a != id_b:
        if ties == BY_HASH:
            base = mix(mix(mix(seed) ^ np.uint64(TIE)) ^ np.uint64(step))
            hash_a, hash_b = mix(base ^ np.uint64(id_a)), mix(base ^ np.uint64(id_b))
            if hash_a != hash_b:
                return hash_a < hash_b
        return id_a < id_b
    return slot_a < slot_b


@kernel
def in_registers(start, stop, neighbour, table, steps, winner, taken):
    """Serve one tiny owner with all its keys in registers; False (nothing written) when a tie needs the chain."""
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + 2 * AHEAD, last)])
    if stop - start <= 16:
        ties = serve_16(table, neighbour, start, stop - start, last, winner)
    else:
        ties = serve_32(table, neighbour, start, stop - start, last, winner)
    if ties & np.uint32((1 << steps) - 1):
        return False
    for z in range(steps):
        taken[start + winner[z]] = z + 1
    return True


@kernel
def minima_first(start, stop, neighbour, table, steps, wide, least, who, blocked, taken):
    """Serve one small owner from the minima of all steps; False (nothing written) when a tie needs the chain."""
    equal = np.uint32(0)
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + AHEAD, last)])
        index = np.int32(slot - start)
        if wide:
            equal |= fold_16(table, neighbour[slot], least, who, index)
        else:
            equal |= fold_8(table, neighbour[slot], least, who, index)
        blocked[index] = 0
    if equal & np.uint32((1 << steps) - 1):
        return False
    for z in range(steps):
        winner = np.int64(who[z])
        if blocked[winner]:  # an earlier step took it: the least of the others
            best = np.int64(1) << 60
            same = False
            for index in range(stop - start):
                packed = (np.int64(table[neighbour[start + index], z]) << 8) + index + blocked[index]
                same |= (packed >> 8) == (best >> 8)
                best = min(best, packed)
            if same:
                return False
            winner = best & 255
            who[z] = winner
        blocked[winner] = np.int64(1) << 50
    for z in range(steps):
        taken[start + who[z]] = z + 1
    return True


@kernel
def bump_chain(start, stop, neighbour, table, steps, wide, first, ties, seed, base, held, holder, taken):
    """Serve one owner by the bump chain: a candidate that beats the holder of a step takes its place and the loser
    tries the later steps. Slots already taken in an earlier block of steps are passed over."""
    live = np.uint32((1 << steps) - 1)
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + AHEAD, last)])
        if taken[slot]:
            continue
        row = neighbour[slot]
        open_steps = live & (at_most_16(table, row, held) if wide else at_most_8(table, row, held))
        candidate = slot
        while open_steps:
            z = lowest_bit(open_steps)
            key = table[row, z]
            loser = holder[z]
            if loser < 0:
                held[z] = key
                holder[z] = candidate
                break
            other = neighbour[loser]
            if key < held[z] or (
                key == held[z] and tied_before(ties, seed, first + z + 1, row - base, other - base, candidate, loser)
            ):
                held[z] = key
                holder[z] = candidate
                candidate = loser
                row = other
                open_steps = live & (at_most_16(table, row, held) if wide else at_most_8(table, row, held))
            open_steps &= np.uint32(0xFFFFFFFE) << np.uint32(z)
    for z in range(steps):
        if holder[z] >= 0:
            taken[holder[z]] = z + 1


@kernel
def choose_nodes(lo, hi, indptr, neighbour, table, first, width, quota, bases, ties, seed, ranked, taken):
    """Steps first+1 .. first+width of the owners lo..hi, keys table[neighbour, z] int32 [n, 8 or 16].

    taken[slot] becomes the step within this block. Unless `ranked`, an owner whose quota covers its degree keeps all
    its edges without a look at the table.
    """
    wide = table.shape[1] == 16
    held = np.empty(16, np.int32)
    who = np.zeros(16, np.int32)
    holder = np.empty(16, np.int64)
    blocked = np.zeros(SMALL, np.int64)
    for u in range(lo, hi):
        start, stop = indptr[u], indptr[u + 1]
        steps = min(np.int64(width), quota[u] - first, stop - start - first)
        if steps <= 0:
            continue
        if not ranked and quota[u] >= stop - start:
            if first == 0:
                taken[start:stop] = 1
            continue
        tiny = first == 0 and not wide and stop - start <= TINY
        if tiny and in_registers(start, stop, neighbour, table, steps, who, taken):
            continue
        held[:] = NOBODY
        small = first == 0 and not tiny and stop - start <= SMALL
        if small and minima_first(start, stop, neighbour, table, steps, wide, held, who, blocked, taken):
            continue
        held[:] = NOBODY
        holder[:] = -1
        base = bases[u] if bases.shape[0] else np.int64(0)
        bump_chain(start, stop, neighbour, table, steps, wide, first, ties, seed, base, held, holder, taken)


@kernel
def choose_steps(lo, hi, indptr, neighbour, keys, first, quota, bases, ties, seed, ranked, taken):
    """As `choose_nodes` for keys of any kind: keys[slot - indptr[lo], z] int64."""
    width = keys.shape[1]
    holder = np.empty(width, np.int64)
    origin = indptr[lo]
    for u in range(lo, hi):
        start, stop = indptr[u], indptr[u + 1]
        steps = min(np.int64(width), quota[u] - first, stop - start - first)
        if steps <= 0:
            continue
        if not ranked and quota[u] >= stop - start:
            if first == 0:
                taken[start:stop] = 1
            continue
        base = bases[u] if bases.shape[0] else np.int64(0)
        holder[:] = -1
        for slot in range(start, stop):
            if taken[slot]:
                continue
            candidate = slot
            for z in range(steps):
                loser = holder[z]
                if loser < 0:
                    holder[z] = candidate
                    break
                key, other = keys[candidate - origin, z], keys[loser - origin, z]
                if key < other or (
                    key == other
                    and tied_before(
                        ties, seed, first + z + 1,
                        neighbour[candidate] - base, neighbour[loser] - base, candidate, loser,
                    )
                ):  # fmt: skip
                    holder[z] = candidate
                    candidate = loser
        for z in range(steps):
            if holder[z] >= 0:
                taken[holder[z]] = z + 1


@kernel
def choose_again(lo, hi, indptr, neighbour, keys, first, quota, bases, ties, seed, ranked, taken):
    """With replacement: every step takes its least key, taken before or not; `taken` keeps the first step."""
    origin = indptr[lo]
    for u in range(lo, hi):
        start, stop = indptr[u], indptr[u + 1]
        base = bases[u] if bases.shape[0] else np.int64(0)
        for z in range(min(np.int64(keys.shape[1]), quota[u] - first)):
            best = start
            for slot in range(start + 1, stop):
                key, least = keys[slot - origin, z], keys[best - origin, z]
                if key < least or (
                    key == least
                    and tied_before(
                        ties, seed, first + z + 1, neighbour[slot] - base, neighbour[best] - base, slot, best
                    )
                ):
                    best = slot
            if stop > start and taken[best] == 0:
                taken[best] = z + 1


@kernel
def comes_before(a, b, keys, origin, neighbour, base, ties, seed, step):
    """Whether slot a goes before slot b under the one key of `choose_bottom`."""
    key, other = keys[a - origin, 0], keys[b - origin, 0]
    if key != other:
        return key < other
    return tied_before(ties, seed, step, neighbour[a] - base, neighbour[b] - base, a, b)


@kernel
def sink(heap, at, size, keys, origin, neighbour, base, ties, seed, step):
    """Restore the heap (the last in order on top) below position `at`."""
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
    """Put the `size` first of an owner's slots that are not taken on the heap."""
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


BY_KEY, BY_TIE_HASH, BY_NEIGHBOUR = 0, 1, 2  # what slots are ordered by, in this order; then by position


@kernel
def slot_value(slot, level, keys, origin, neighbour, base, seed, step):
    """What a slot is ordered by at one of these levels, as a uint64."""
    if level == BY_KEY:
        return ordered_bits(keys[slot - origin, 0])
    if level == BY_TIE_HASH:
        return mix(mix(mix(mix(seed) ^ np.uint64(TIE)) ^ np.uint64(step)) ^ np.uint64(neighbour[slot] - base))
    return np.uint64(neighbour[slot] - base)


@kernel
def level_counts(ties, level):
    """Whether the tie rule looks at this level."""
    return level == BY_KEY or (level == BY_TIE_HASH and ties == BY_HASH) or (level == BY_NEIGHBOUR and ties <= BY_ID)


@kernel
def take_smallest(start, stop, keys, origin, neighbour, base, ties, seed, step, size, slots, values, taken):
    """Take the `size` first of an owner's slots that are not taken: all below a limit, then those equal to it by the
    next level of the order."""
    count = 0
    for slot in range(start, stop):
        if taken[slot] == 0:
            slots[count] = slot
            count += 1
    for level in range(3):
        if size >= count:
            break
        if not level_counts(ties, level):
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
    """ranks[slot] = step, step + 1, ... for the taken slots of an owner that have no rank yet, in their order."""
    spare_slots, spare_values = np.empty(stop - start, np.int64), np.empty(stop - start, np.uint64)
    for lowest_level in (BY_KEY, BY_NEIGHBOUR):  # ties are rare: look first whether there are any
        count = 0
        for slot in range(start, stop):
            if taken[slot] and ranks[slot] == 0:
                slots[count] = slot
                count += 1
        for level in range(lowest_level, -1, -1):
            if level_counts(ties, level):
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
    """Steps first+1, first+2, ... of the owners lo..hi, all by one key, keys[slot - indptr[lo], 0].

    taken[slot] becomes 1 and, with `ranked`, ranks[slot] the step. Slots taken before are passed over.
    """
    heap = np.empty(HEAP_MOST, np.int64)
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
        if size <= HEAP_MOST:
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
