"""How the words of a codebook are found: leaders that lie apart, then k-means, all in integers.

Words that begin as random rows are often two in one cluster and none in another, which k-means cannot mend. A leader is
a row that lies far from every leader before it, so that each cluster gets one. How far is tried: the right distance is
the one under which rows and their nearest other rows, which are samples of the same thing where the data has such, find
the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import Runtime
from lsprune.numeric.random_numbers import TWIN, draw

ENOUGH = 1 << 19  # rows that words are learned from
TRIED = 1 << 17  # rows that a distance is tried on
LARGEST = 1 << 16  # words that are chosen at most
CLOSE = 0.02  # of agreement that is given for fewer words
FIRST, STEP = 1 << 10, 1 << 13  # rows that leaders are looked for in at a time, at first and at most
PLAIN = 1 << 9  # of them that are compared one by one
_ROUNDS = 1  # of k-means when a distance is tried
_EACH = 4  # rows that there are for each word that is chosen, so that words are not just rows learned by heart
_GROUP = 8  # edges among which twins must agree on the smallest, as in a neighbourhood
_CHANCE = 2 / _GROUP  # agreement that says nothing: a group's smallest is its twins' by luck in one of _GROUP
_FEW = 1 << 9  # rows that are all compared with each other
_FURTHEST = 10  # powers of sqrt(2), of squared distances from a row to its twin


@dataclass(frozen=True, eq=False)
class Twins:
    """Some rows, the nearest other row of each, and the middle one of their squared distances."""

    ours: Array
    theirs: Array
    distance: int


def learned_words(rows: Array, count: int | None, iterations: int, seed: int, run: Runtime) -> Array:
    """Words `[count, width]` of distinct rows in a random order; as many as fit the data if no count is given."""
    if rows.shape[0] < 2 * _GROUP and count is None:
        return rows  # too few to say which of them are alike
    twins = _twins(rows, run)
    if count is not None:
        some = rows[: max(ENOUGH, 16 * count)]
        return k_means(
            some, _filled(apart(some, _further(twins.distance, 2), count, run), rows, count), iterations, run
        )
    most = max(min(rows.shape[0] // _EACH, LARGEST), 1)
    others = rows if rows.shape[0] <= _FEW else rows[twins.ours.shape[0] :]
    distance = _best_distance(others, twins, most, seed, run)
    return k_means(rows[:ENOUGH], apart(rows[:ENOUGH], distance, most, run), iterations, run)


def apart(rows: Array, distance: int, most: int, run: Runtime) -> Array:
    """Words that lie farther apart than that: means of what is near to leaders, without those of odd rows.

    A row at the edge of a cluster may be a leader too; its mean then lies near the mean of the others, which are more.
    """
    words, sizes = _means(rows, leaders(rows, distance, most, run), run)
    return leaders(words[np.argsort(-sizes, kind="stable")], distance, most, run)


def _filled(first: Array, rows: Array, count: int) -> Array:
    """The leaders, and so many of the other rows as are missing."""
    names, known = (
        np.ascontiguousarray(some).view(f"V{some.itemsize * some.shape[1]}")[:, 0] for some in (rows, first)
    )
    others = rows[~np.isin(names, known)]
    return np.concatenate([first, others[: count - first.shape[0]]])


def nearest(rows: Array, words: Array, run: Runtime) -> Array:
    """The nearest word of each row, the first of those that are equally near."""
    out, search = np.empty(rows.shape[0], np.int32), run.module.searcher(words)
    size = min(run.module.SEARCH_ROWS, max(-(-rows.shape[0] // run.threads), 1 << 10))
    run.spread(rows.shape[0], lambda lo, hi: search(rows[lo:hi], out[lo:hi]), size)
    return out


def squares(rows: Array, others: Array) -> Array:
    """The squared distance of each row from the other one of the same number."""
    return np.asarray(((rows.astype(np.int32) - others) ** 2).sum(1))


def leaders(rows: Array, distance: int, most: int, run: Runtime) -> Array:
    """The rows whose squared distance from every leader before them is more than `distance`, the first `most`."""
    found, lo, size = rows[:0], 0, FIRST
    while lo < rows.shape[0] and found.shape[0] < most:
        block = _beyond(rows[lo : lo + size], found, distance, run)
        fresh = rows[:0]
        for first in range(0, block.shape[0], PLAIN):  # searching for the nearest is much faster than the plain loop
            some = _beyond(block[first : first + PLAIN], fresh, distance, run)
            chosen = np.zeros(some.shape[0], np.bool_)
            run.module.leaders(some, distance, chosen)
            fresh = np.concatenate([fresh, some[chosen]])
        found = np.concatenate([found, fresh])
        lo, size = lo + size, min(2 * size, STEP)
    return found[:most]


def _beyond(rows: Array, words: Array, distance: int, run: Runtime) -> Array:
    """The rows whose squared distance from the nearest word is more than that."""
    return rows[squares(rows, words[nearest(rows, words, run)]) > distance] if words.shape[0] else rows


def k_means(rows: Array, words: Array, iterations: int, run: Runtime) -> Array:
    """The words after some rounds of k-means."""
    for _ in range(iterations):
        before = words
        words, _ = _means(rows, words, run)
        if np.array_equal(words, before):
            break
    return words


def _means(rows: Array, words: Array, run: Runtime) -> tuple[Array, Array]:
    """The rounded mean of the rows that are nearest to each word, and how many; a word without rows stays."""
    which = nearest(rows, words, run)
    order = np.argsort(which, kind="stable")
    sizes = np.bincount(which, minlength=words.shape[0])
    some, words = np.flatnonzero(sizes), words.copy()
    sums = np.add.reduceat(rows[order], (np.cumsum(sizes) - sizes)[some], axis=0, dtype=np.int64)
    words[some] = (2 * sums + sizes[some, None]) // (2 * sizes[some, None])
    return words, sizes


def _twins(rows: Array, run: Runtime) -> Twins:
    """Of few rows all and their nearest others; of many some, and the nearest of as many that are not among them."""
    if rows.shape[0] <= _FEW:
        apart = ((rows[:, None].astype(np.int32) - rows[None]) ** 2).sum(2)
        np.fill_diagonal(apart, np.iinfo(np.int32).max)
        ours, theirs = rows, rows[apart.argmin(1)]
    else:
        ours, others = rows[: rows.shape[0] // 8][: 1 << 13], rows[rows.shape[0] // 8 : rows.shape[0] // 2][: 1 << 17]
        theirs = others[nearest(ours, others, run)]
    return Twins(ours, theirs, int(np.sort(squares(ours, theirs))[ours.shape[0] // 2]))


def _further(distance: int, power: int) -> int:
    """A squared distance times 2^(power / 2), rounded down."""
    return isqrt((distance * distance << (power + 20)) >> 20)


def _best_distance(rows: Array, twins: Twins, most: int, seed: int, run: Runtime) -> int:
    """The squared distance between words under which rows and their twins choose alike; from far to near.

    Few words, far apart, agree by chance alone; only agreement above that can have a peak which the search has passed.

    A twin is nearer than most samples of an edge, which speaks for too many words: the fewest that do as well win.
    """
    some, tried = rows[:TRIED], dict[int, tuple[float, int]]()  # power -> agreement, words
    most = max(min(some.shape[0] // 2, most), 1)

    def agreement(power: int) -> float:
        if power not in tried:
            words = k_means(some, apart(some, _further(twins.distance, power), most, run), _ROUNDS, run)
            one, other = (nearest(part, words, run) for part in (twins.ours, twins.theirs))
            tried[power] = _agreement(one, other, seed), words.shape[0]
        return tried[power][0]

    power, enough = _FURTHEST, 1 - CLOSE
    while power > -_FURTHEST and tried.get(power + 2, (0.0, 0))[1] < most:
        now, high = agreement(power), max(tried.values())[0]
        if now >= enough or high > max(1.05 * now, _CHANCE):
            break
        power -= 2
    best = max(tried, key=agreement)
    if agreement(best + 1) < enough and agreement(best) < enough:
        agreement(best - 1)
    high = max(tried.values())[0]
    return _further(twins.distance, max(power for power, (value, _) in tried.items() if value >= high - CLOSE))


def _agreement(ours: Array, twins: Array, seed: int) -> float:
    """How often the smallest of some rows by min-hash is the smallest of their twins too."""
    usable = ours.shape[0] // _GROUP * _GROUP
    numbers = np.arange(usable)
    right = 0
    for turn in range(4):
        first, second = (
            (draw(seed, TWIN, turn, 0, words[:usable]) >> np.uint64(20) << np.uint64(20))
            | (draw(seed, TWIN, turn, side, numbers) >> np.uint64(44))  # words that are equal: any of them, at random
            for side, words in ((1, ours), (2, twins))
        )
        right += int((first.reshape(-1, _GROUP).argmin(1) == second.reshape(-1, _GROUP).argmin(1)).sum())
    return float(right / max(4 * usable // _GROUP, 1))
