"""Selection per owner: the bump chain and two shortcuts, which take the same edges as `reference.choose`.

Owners are independent: a thread has a range of owners and writes only to the slots of their edges, so there is no race.
Only `ties.tied_before` decides between equal keys: the shortcuts give up as soon as they see a tie.

Kernels take arrays and numbers, no objects; hence the many parameters.
"""

from __future__ import annotations

import numpy as np

from lsprune.kernels.cpu.intrinsics import (
    at_most_8,
    at_most_16,
    choose_16,
    choose_32,
    fold_8,
    fold_16,
    lowest_bit,
    prefetch,
)
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.ties import tied_before

NO_KEY = np.int32(2**31 - 1)  # larger than any key
PREFETCH_KEYS = 12  # rows of the table
REGISTER_DEGREE = 32  # up to this degree and 8 steps: all keys of the owner in registers
MINIMA_DEGREE = 64  # up to this degree: minima first, collisions after; above, the chain rejects most edges at once


@kernel
def in_registers(start, stop, neighbour, table, steps, winner, taken):
    """Choose for one owner of low degree with all its keys in registers; False, nothing written, if there is a tie."""
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + 2 * PREFETCH_KEYS, last)])
    if stop - start <= 16:
        ties = choose_16(table, neighbour, start, stop - start, last, winner)
    else:
        ties = choose_32(table, neighbour, start, stop - start, last, winner)
    if ties & np.uint32((1 << steps) - 1):
        return False
    for z in range(steps):
        taken[start + winner[z]] = z + 1
    return True


@kernel
def minima_first(start, stop, neighbour, table, steps, wide, least, who, blocked, taken):
    """Choose for one owner from the minima of all steps; False, nothing written, if there is a tie."""
    equal = np.uint32(0)
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + PREFETCH_KEYS, last)])
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
    """Choose for one owner: a candidate that beats the holder of a step takes its place, the loser tries later steps.

    Slots that are taken already, in an earlier block of steps, are skipped.
    """
    live = np.uint32((1 << steps) - 1)
    last = neighbour.shape[0] - 1
    for slot in range(start, stop):
        prefetch(table, neighbour[min(slot + PREFETCH_KEYS, last)])
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
    """Take the steps first+1 .. first+width of the owners lo..hi, with the keys table[neighbour, z].

    The table is int32 [n, 8 or 16]; taken[slot] becomes the step within this block. Unless `ranked`, an owner whose
    quota covers its degree keeps all its edges, and the table is not read.
    """
    wide = table.shape[1] == 16
    held = np.empty(16, np.int32)
    who = np.zeros(16, np.int32)
    holder = np.empty(16, np.int64)
    blocked = np.zeros(MINIMA_DEGREE, np.int64)
    for u in range(lo, hi):
        start, stop = indptr[u], indptr[u + 1]
        steps = min(np.int64(width), quota[u] - first, stop - start - first)
        if steps <= 0:
            continue
        if not ranked and quota[u] >= stop - start:
            if first == 0:
                taken[start:stop] = 1
            continue
        tiny = first == 0 and not wide and stop - start <= REGISTER_DEGREE
        if tiny and in_registers(start, stop, neighbour, table, steps, who, taken):
            continue
        held[:] = NO_KEY
        small = first == 0 and not tiny and stop - start <= MINIMA_DEGREE
        if small and minima_first(start, stop, neighbour, table, steps, wide, held, who, blocked, taken):
            continue
        held[:] = NO_KEY
        holder[:] = -1
        base = bases[u] if bases.shape[0] else np.int64(0)
        bump_chain(start, stop, neighbour, table, steps, wide, first, ties, seed, base, held, holder, taken)


@kernel
def choose_steps(lo, hi, indptr, neighbour, keys, first, quota, bases, ties, seed, ranked, taken):
    """Do what `choose_nodes` does, with the keys keys[slot - indptr[lo], z], int64."""
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
def choose_with_replacement(lo, hi, indptr, neighbour, keys, first, quota, bases, ties, seed, ranked, taken):
    """Do the same with replacement: every step takes its smallest key; `taken` keeps the first step of a slot."""
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
