"""The definition: what every executor must give, bit for bit, in plain Python.

Selection is `choose`: read that first. The rest says how attributes become integers and how edges are grouped. Nothing
here is fast; every other executor is tested against it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lsprune.graph import Array
from lsprune.numeric.random_numbers import FIRST, GOLDEN, SECOND, TIE

MASK = (1 << 64) - 1
SEARCH_ROWS = 1 << 11  # rows that a call of a search should bring


def choose(slots: list[int], order: Callable[[int, int], Any], steps: int, replace: bool = False) -> dict[int, int]:
    """The step at which each taken slot of one owner is taken: step z takes the first of those left.

    `order(step, slot)` is what step 1, 2, ... sorts by: key, then tie rule, then position.
    """
    taken: dict[int, int] = {}
    for step in range(1, steps + 1):
        left = slots if replace else [slot for slot in slots if slot not in taken]
        if not left:
            break
        winner = min(left, key=lambda slot: order(step, slot))
        taken.setdefault(winner, step)
    return taken


def mix(value: int) -> int:
    """splitmix64 of a 64-bit integer."""
    value = (value + GOLDEN) & MASK
    value = ((value ^ (value >> 30)) * FIRST) & MASK
    value = ((value ^ (value >> 27)) * SECOND) & MASK
    return value ^ (value >> 31)


def tie_order(ties: int, seed: int, step: int, neighbour: int, slot: int) -> tuple[int, ...]:
    """What equal keys are sorted by: hash of the neighbour, its id, or the position alone."""
    if ties == 2:
        return (slot,)
    if ties == 1:
        return (neighbour, slot)
    return (mix(mix(mix(mix(int(seed)) ^ TIE) ^ step) ^ neighbour), neighbour, slot)


def _choose_owners(
    lo: int, hi: int, indptr: Array, neighbour: Array, key: Callable[[int, int], int], first: int, width: int,
    quota: Array, bases: Array, ties: int, seed: int, ranked: bool, out: Array, replace: bool = False,
) -> None:  # fmt: skip
    for u in range(lo, hi):
        base = int(bases[u]) if len(bases) else 0

        def order(step: int, slot: int, base: int = base) -> tuple[int, ...]:
            tie = tie_order(ties, seed, first + step, int(neighbour[slot]) - base, slot)
            return (int(key(slot, step - 1)), *tie)

        everything = range(int(indptr[u]), int(indptr[u + 1]))
        if not ranked and not replace and quota[u] >= len(everything):
            out[everything.start : everything.stop] = 1  # no choice to make, so no key is asked for
            continue
        slots = [slot for slot in everything if replace or out[slot] == 0]
        for slot, step in choose(slots, order, min(width, int(quota[u]) - first), replace).items():
            if out[slot] == 0:
                out[slot] = step


def choose_nodes(
    lo: int, hi: int, indptr: Array, neighbour: Array, table: Array, first: int, width: int, quota: Array, bases: Array,
    ties: int, seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """Steps first+1.. of the owners lo..hi with keys table[neighbour, z]."""
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: table[neighbour[slot], z], first, width, quota, bases,
                   ties, seed, ranked, taken)  # fmt: skip


def choose_steps(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """Steps first+1.. of the owners lo..hi with keys[slot - indptr[lo], z]."""
    origin = int(indptr[lo])
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: keys[slot - origin, z], first, keys.shape[1], quota,
                   bases, ties, seed, ranked, taken)  # fmt: skip


def choose_again(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array,
) -> None:  # fmt: skip
    """The same with replacement (Algorithm 1 to the letter): the union of the winners."""
    origin = int(indptr[lo])
    _choose_owners(lo, hi, indptr, neighbour, lambda slot, z: keys[slot - origin, z], first, keys.shape[1], quota,
                   bases, ties, seed, ranked, taken, replace=True)  # fmt: skip


def choose_bottom(
    lo: int, hi: int, indptr: Array, neighbour: Array, keys: Array, first: int, quota: Array, bases: Array, ties: int,
    seed: int, ranked: bool, taken: Array, ranks: Array,
) -> None:  # fmt: skip
    """Steps first+1, first+2, ... of the owners lo..hi, all by the one key keys[slot - indptr[lo], 0] and its ties."""
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


def quanta_of(row: list[float], unit: bool, exponent: int, centre: list[int]) -> list[int]:
    """The integers of one row: unit rows in +-127, raw rows in +-32767."""
    if not unit:
        whole = [round(value * 2.0**exponent) - middle for value, middle in zip(row, centre, strict=True)]
        return [max(-32767, min(32767, value)) for value in whole]
    fine = unit_fine(row, exponent)
    return [max(-127, min(127, (value - middle + 128) >> 8)) for value, middle in zip(fine, centre, strict=True)]


def unit_fine(row: list[float], exponent: int) -> list[int]:
    """Each entry divided by the L2 norm of the row, in units of 2^-(exponent + 8), cut towards zero."""
    top = max((abs(value) for value in row), default=0.0)
    power = math.frexp(top)[1] - 1 if top else -200
    if power < -96:
        return [0] * len(row)
    squares = sum(int(value * 2.0 ** (14 - power)) ** 2 for value in row)
    factor = np.float32(math.ldexp(1.0 / math.sqrt(squares), 14 - power + exponent + 8))
    return [int(np.float32(value) * factor) for value in row]


def _rows(x: Array) -> list[list[float]]:
    return [[float(value) for value in row] for row in x]


def _bad_row(x: Array) -> int:
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    return int(bad[0]) if bad.size else -1


def unit_sums(x: Array, sums: Array) -> int:
    """Add the columns of the unit rows, in 1/65536ths; the first row that is not finite, or -1."""
    if (bad := _bad_row(x)) < 0:
        for row in _rows(x):
            sums += np.array(unit_fine(row, 8), np.int64)
    return bad


def unit_spread(x: Array, centre: Array, histogram: Array, squares: Array) -> None:
    """Count bit lengths of |entry - centre| and add the squares of each column, in 1/65536ths."""
    for row in _rows(x):
        for j, value in enumerate(unit_fine(row, 8)):
            away = abs(value - int(centre[j]))
            histogram[away.bit_length()] += 1
            squares[j] += away * away


def raw_top(x: Array) -> int:
    """The largest |entry| as the bit pattern of a float32; 255 << 23 and above when one is not finite."""
    return int((x.view(np.int32) & 0x7FFFFFFF).max(initial=0))


def quanta(x: Array, unit: bool, exponent: int, centre: Array, out: Array) -> int:
    """The integers of every row; the first row that is not finite, or -1."""
    if (bad := _bad_row(x)) < 0:
        for i, row in enumerate(_rows(x)):
            out[i] = quanta_of(row, unit, exponent, centre.tolist())
    return bad


def project(x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array) -> int:
    """out[row, z] = <integers of the row, weights[z]>; the first row that is not finite, or -1."""
    if (bad := _bad_row(x)) < 0:
        for i, row in enumerate(_rows(x)):
            q = quanta_of(row, unit, exponent, centre.tolist())
            for z, weight in enumerate(weights.tolist()):
                out[i, z] = sum(a * b for a, b in zip(q, weight, strict=True))
    return bad


def project_quanta(q: Array, weights: Array, out: Array) -> None:
    """out[row, z] = <q[row], weights[z]> for rows that are integers already."""
    out[:, : weights.shape[0]] = [[sum(a * b for a, b in zip(row, weight, strict=True)) for weight in weights.tolist()]
                                  for row in q.tolist()]  # fmt: skip


def _dense(indptr: Array, indices: Array, x: Array, dim: int) -> Array:
    rows = np.zeros((len(indptr) - 1, dim), np.float32)
    rows[np.repeat(np.arange(len(rows)), np.diff(indptr)), indices] = x
    return rows


def sparse_sums(indptr: Array, indices: Array, x: Array, sums: Array) -> int:
    """`unit_sums` of CSR rows."""
    return unit_sums(_dense(indptr, indices, x, sums.shape[0]), sums)


def project_sparse(
    indptr: Array, indices: Array, x: Array, unit: bool, exponent: int, centre: Array, weights: Array, out: Array
) -> int:
    """`project` of CSR rows."""
    return project(_dense(indptr, indices, x, centre.shape[0]), unit, exponent, centre, weights, out)


def signature(
    x: Array, unit: bool, exponent: int, centre: Array, entry: Array, threshold: Array, code: Array, out: Array
) -> int:
    """out[row, z] = sum mod 2^64 of the codes of the bits that are set; the first row that is not finite, or -1."""
    if (bad := _bad_row(x)) < 0:
        for i, row in enumerate(_rows(x)):
            q = quanta_of(row, unit, exponent, centre.tolist())
            for z in range(entry.shape[0]):
                bits = zip(entry[z].tolist(), threshold[z].tolist(), code[z].tolist(), strict=True)
                out[i, z] = sum(c for j, t, c in bits if q[j] > t) & MASK
    return bad


def group(
    owner: Array, neighbour: Array, owners: int, neighbours: int, skip: bool, threads: int
) -> tuple[Array, Array, Array]:
    """(indptr, neighbour, edge): the edges of each owner in the caller's order, without self-loops if `skip`."""
    rows: list[list[int]] = [[] for _ in range(owners)]
    for e, (u, v) in enumerate(zip(owner.tolist(), neighbour.tolist(), strict=True)):
        if not skip or u != v:
            rows[u].append(e)
    edge = np.array([e for row in rows for e in row], np.int64)
    indptr = np.array([0, *np.cumsum([len(row) for row in rows])], np.int64)
    return indptr, neighbour[edge], edge


def without_loops(indptr: Array, neighbour: Array, threads: int) -> tuple[Array, Array, Array | None]:
    """A CSR graph less its self-loops, and where each edge came from (None: nothing to leave out)."""
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if not (owner == neighbour).any():
        return indptr, neighbour, None
    return group(owner, neighbour, len(indptr) - 1, len(indptr) - 1, True, threads)


def scatter_taken(taken: Array, edge: Array, lo: int, hi: int, mask: Array) -> None:
    """mask[edge[slot]] = taken[slot] > 0."""
    mask[edge[lo:hi]] = taken[lo:hi] != 0


def hash_ends(
    start: int, first: Array, second: Array, first_base: Array, second_base: Array, lo: int, hi: int, out: Array
) -> None:
    """out[e] = splitmix64 of (start, first id, second id), ids local to their graph."""
    for e in range(lo, hi):
        a, b = int(first[e]), int(second[e])
        if len(first_base):
            a, b = a - int(first_base[a]), b - int(second_base[b])
        out[e] = mix(mix(int(start) ^ a) ^ b)


def balance(source: Array, target: Array, lo: int, hi: int) -> int:
    """Sum mod 2^64 of hash(s, t) - hash(t, s)."""
    pairs = zip(source[lo:hi].tolist(), target[lo:hi].tolist(), strict=True)
    return sum(mix(mix(s) ^ t) - mix(mix(t) ^ s) for s, t in pairs) & MASK


def touch(first: Array, second: Array, mask: Array, lo: int, hi: int, had: Array, has: Array) -> None:
    """had[id] = 1 for both ends of every edge that is no self-loop, has[id] = 1 where mask keeps it."""
    for a, b, kept in zip(first[lo:hi], second[lo:hi], mask[lo:hi], strict=True):
        if a != b:
            had[[a, b]] = 1
            has[[a, b]] |= np.uint8(kept)


def count_rows(indptr: Array, mask: Array, lo: int, hi: int, counts: Array) -> None:
    """counts[row + 1] = number of kept edges of a row."""
    for row in range(lo, hi):
        counts[row + 1] = sum(mask[int(indptr[row]) : int(indptr[row + 1])].tolist())


def any_in_rows(indptr: Array, taken: Array, lo: int, hi: int, has: Array) -> None:
    """has[row] = 1 for the rows in which something is taken."""
    for row in range(lo, hi):
        has[row] |= np.uint8(any(taken[int(indptr[row]) : int(indptr[row + 1])]))


def touch_neighbours(neighbour: Array, taken: Array, without: Array, lo: int, hi: int, had: Array, has: Array) -> None:
    """had and has as in `touch`, for the neighbours that are marked in `without`."""
    for slot in range(lo, hi):
        if without[neighbour[slot]]:
            had[neighbour[slot]] = 1
            has[neighbour[slot]] |= np.uint8(taken[slot] != 0)


def spread_bits(indptr: Array, neighbour: Array, here: Array, there: Array, changed: Array, lo: int, hi: int) -> None:
    """there[v] = here[v] | here[t] over the edges v -> t; `changed` when a bit is new."""
    for v in range(lo, hi):
        targets = neighbour[int(indptr[v]) : int(indptr[v + 1])]
        there[v] = np.bitwise_or.reduce(here[[v, *targets]], axis=0)
        changed[0] |= np.uint8((there[v] != here[v]).any())


def count_bits(rows: Array, lo: int, hi: int, sizes: Array) -> None:
    """sizes[v] += number of bits set in row v."""
    for v in range(lo, hi):
        sizes[v] += sum(int(word).bit_count() for word in rows[v])


def compress(mask: Array, arrays: tuple[Array, ...], out: tuple[Array, ...], threads: int) -> None:
    """out = array[mask] for each."""
    for array, to in zip(arrays, out, strict=True):
        to[:] = array[mask]


def md5_keys(tables: Sequence[Array], rows: Array, begins: Array, size: int, m: int, keys: Array) -> None:
    """keys[e, z] = MD5 mod m of the `size` bytes that join a row of each table, one function a lane."""
    for e, z in np.ndindex(*keys.shape):
        message = np.zeros(-(-size // 4), "<u4")
        for table, row, begin in zip(tables, rows[:, e], begins, strict=True):
            message[begin : begin + table.shape[1]] |= table[row, :, z]
        keys[e, z] = int.from_bytes(hashlib.md5(message.tobytes()[:size]).digest(), "big") % m


def log2_fixed(values: Array, lo: int, hi: int, out: Array) -> None:
    """out[i] = log2(value) * 2^32, by squaring the top 32 bits of the value 32 times; -2^32 for 0."""
    for i in range(lo, hi):
        value = int(values[i])
        whole = value.bit_length() - 1
        mantissa = (value << (63 - whole)) >> 32
        for _ in range(32):
            mantissa = (mantissa * mantissa) >> 31
            bit = mantissa >> 32
            mantissa >>= bit
            whole = 2 * whole + bit
        out[i] = whole


def min_rows(indptr: Array, neighbour: Array, table: Array, lo: int, hi: int, out: Array) -> None:
    """out[u, z] = the least table[v, z] over the neighbours v of u, where it has any."""
    for u in range(lo, hi):
        out[u] = np.minimum.reduce([out[u], *table[neighbour[int(indptr[u]) : int(indptr[u + 1])]]])


def count_equal(indptr: Array, neighbour: Array, rows: Array, lo: int, hi: int, counts: Array) -> None:
    """counts[slot] += number of equal entries in the rows of owner and neighbour."""
    for u in range(lo, hi):
        for slot in range(int(indptr[u]), int(indptr[u + 1])):
            counts[slot] += (rows[u] == rows[neighbour[slot]]).sum()


def count_common(
    indptr: Array, neighbour: Array, begins: Array, members: Array, lo: int, hi: int, counts: Array
) -> None:
    """counts[slot] = size of the intersection of the sets of owner and neighbour."""
    sets = [set(members[int(a) : int(b)].tolist()) for a, b in zip(begins[:-1], begins[1:], strict=True)]
    for u in range(lo, hi):
        for slot in range(int(indptr[u]), int(indptr[u + 1])):
            counts[slot] = len(sets[u] & sets[int(neighbour[slot])])


def weigh(table: Array, neighbour: Array, extra: Array, out: Array) -> None:
    """out[i, z] = table[neighbour[i], z] + extra[i]."""
    out[:] = table[neighbour, : out.shape[1]].astype(np.int64) + extra[:, None]


def sum_rows(indptr: Array, neighbour: Array, rows: Array, lo: int, hi: int, sums: Array) -> None:
    """sums[u - lo] += the rows of owner u and of its neighbours."""
    for u in range(lo, hi):
        for node in (u, *neighbour[int(indptr[u]) : int(indptr[u + 1])].tolist()):
            sums[u - lo] += rows[node]


def unit_values(indptr: Array, x: Array, out: Array) -> int:
    """out = each entry over the L2 norm of its row in 2^-14; the first row that is not finite, or -1."""
    for row in range(len(indptr) - 1):
        start, stop = int(indptr[row]), int(indptr[row + 1])
        if not np.isfinite(x[start:stop]).all():
            return row
        out[start:stop] = unit_fine([float(value) for value in x[start:stop]], 6)
    return -1


def dot_dense(first: Array, second: Array, rows: Array, columns: Array, out: Array) -> None:
    """out[i] = <first[rows[i]], second[columns[i]]>."""
    for i, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        out[i] = sum(x * y for x, y in zip(first[a].tolist(), second[b].tolist(), strict=True))


def dot_sparse(
    first_ptr: Array, first_column: Array, first_value: Array, second_ptr: Array, second_column: Array,
    second_value: Array, rows: Array, columns: Array, out: Array,
) -> None:  # fmt: skip
    """The same for CSR rows."""

    def row(ptr: Array, column: Array, value: Array, at: int) -> dict[int, int]:
        here = slice(int(ptr[at]), int(ptr[at + 1]))
        return dict(zip(column[here].tolist(), value[here].tolist(), strict=True))

    for i, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        left, right = row(first_ptr, first_column, first_value, a), row(second_ptr, second_column, second_value, b)
        out[i] = sum(value * right.get(column, 0) for column, value in left.items())


def spanning_trees(
    indptr: Array, neighbour: Array, pair: Array, local: Array, root: Array, starts: Array, limit: int, counts: Array
) -> bool:
    """counts[p] += number of uniform spanning trees with pair p; each node's arrows are a stack, cycles are popped."""
    for start in starts.tolist():
        visits, steps, arrow = [0] * len(local), 0, [-1] * len(local)
        inside = root.astype(bool).tolist()
        for v in range(len(local)):
            u = v
            while not inside[u]:
                drawn = mix(mix(start ^ int(local[u])) ^ visits[u]) >> 32
                visits[u] += 1
                arrow[u] = int(indptr[u]) + ((drawn * int(indptr[u + 1] - indptr[u])) >> 32)
                u = int(neighbour[arrow[u]])
                steps += 1
                if steps > limit:
                    return False
            u = v
            while not inside[u]:  # what is left of the path once its cycles are gone: the last arrow of each node
                inside[u] = True
                counts[pair[arrow[u]]] += 1
                u = int(neighbour[arrow[u]])
    return True


def nearest_words(rows: Array, words: Array, out: Array) -> None:
    """out[i] = the word with the least sum of squared differences from row i, the first of equals."""
    listed = words.tolist()
    for i, row in enumerate(rows.tolist()):
        distance = [sum((a - b) ** 2 for a, b in zip(row, word, strict=True)) for word in listed]
        out[i] = distance.index(min(distance))


def searcher(words: Array) -> Callable[[Array, Array], None]:
    """A function that fills `out` with the nearest word of each row."""
    return lambda rows, out: nearest_words(rows, words, out)


def leaders(rows: Array, distance: int, out: Array) -> None:
    """out[i] = whether the squared distance of row i from every row before it that is one is more than `distance`."""
    listed = rows.tolist()
    for i, row in enumerate(listed):
        before = [listed[j] for j in np.flatnonzero(out[:i])]
        out[i] = all(sum((a - b) ** 2 for a, b in zip(row, one, strict=True)) > distance for one in before)


def peel(indptr: Array, neighbour: Array, left: Array) -> None:
    """left[v], the number of links of v, less those to nodes that hang on one link, until no node does; 0 for those."""
    while (left == 1).any():
        v = int(np.flatnonzero(left == 1)[0])
        joined = neighbour[int(indptr[v]) : int(indptr[v + 1])]
        left[v] = 0
        left[joined[left[joined] > 0]] -= 1
