"""Train the words of a codebook: leader clustering for the initial words, then k-means, all in integers.

k-means that starts from random rows often puts two words into one cluster and none into another, and cannot repair
that. Leader clustering takes a row as a new word only if it is farther than a threshold from all words so far, so that
each cluster gets one. The threshold is chosen by trial: a row and its nearest other row are likely to be two samples of
the same thing, so the best threshold is the one under which such pairs are given the same word most often.

All distances in this module are squared Euclidean distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from lsprune.graph import Array
from lsprune.kernels import Runtime
from lsprune.numeric.random_numbers import TWIN, draw

MAX_TRAINING_ROWS = 1 << 19  # rows used to train the final words
MAX_TRIAL_ROWS = 1 << 17  # rows used to try a threshold
MAX_CHOSEN_WORDS = 1 << 16  # words, if their number is chosen from the data
MIN_LEADER_BLOCK_ROWS, MAX_LEADER_BLOCK_ROWS = 1 << 10, 1 << 13  # rows compared with the leaders so far at a time
PAIRWISE_ROWS = 1 << 9  # rows compared one by one with each other
AGREEMENT_TOLERANCE = 0.02  # agreement that may be lost if fewer words are enough
_TRIAL_ITERATIONS = 1  # of k-means for each threshold that is tried
_MIN_ROWS_PER_WORD = 4  # if the number of words is chosen: with fewer, words would memorise single rows
_GROUP_ROWS = 8  # rows among which the smallest min-hash is compared, as in a neighbourhood
_CHANCE_AGREEMENT = 2 / _GROUP_ROWS  # twice the agreement of random words: lower values mean nothing
_MAX_ALL_PAIRS_ROWS = 1 << 9  # up to so many, every row is compared with every other
_MAX_POWER = 10  # thresholds from 2^(-10/2) to 2^(10/2) times the median distance of nearest rows are tried


@dataclass(frozen=True, eq=False)
class NearestPairs:
    """A sample of rows, the nearest other row of each, and the median distance between the two."""

    rows: Array
    nearest: Array
    distance: int


def train_words(rows: Array, count: int | None, iterations: int, seed: int, runtime: Runtime) -> Array:
    """Return words `[count, width]` from distinct rows in random order; without `count` the data decide how many."""
    if rows.shape[0] < 2 * _GROUP_ROWS and count is None:
        return rows  # too few to tell which of them are similar
    pairs = nearest_pairs(rows, runtime)
    if count is not None:
        sample = rows[: max(MAX_TRAINING_ROWS, 16 * count)]
        words = separated_words(sample, scaled_distance(pairs.distance, 2), count, runtime)
        return k_means(sample, _with_more_rows(words, rows, count), iterations, runtime)
    max_words = max(min(rows.shape[0] // _MIN_ROWS_PER_WORD, MAX_CHOSEN_WORDS), 1)
    others = rows if rows.shape[0] <= _MAX_ALL_PAIRS_ROWS else rows[pairs.rows.shape[0] :]
    threshold = best_threshold(others, pairs, max_words, seed, runtime)
    sample = rows[:MAX_TRAINING_ROWS]
    return k_means(sample, separated_words(sample, threshold, max_words, runtime), iterations, runtime)


def separated_words(rows: Array, threshold: int, max_words: int, runtime: Runtime) -> Array:
    """Return words farther apart than the threshold: the means of the leaders' clusters, without those of outliers.

    A row at the border of a cluster may become a leader too. The mean of the rows nearest to it then lies close to the
    mean of the main cluster. The largest clusters come first in a second pass, which therefore drops the smaller one.
    """
    words, sizes = _cluster_means(rows, leaders(rows, threshold, max_words, runtime), runtime)
    return leaders(words[np.argsort(-sizes, kind="stable")], threshold, max_words, runtime)


def _with_more_rows(words: Array, rows: Array, count: int) -> Array:
    """Return the words, followed by as many other rows as are missing to `count`."""
    row_bytes, word_bytes = (
        np.ascontiguousarray(table).view(f"V{table.itemsize * table.shape[1]}")[:, 0] for table in (rows, words)
    )
    others = rows[~np.isin(row_bytes, word_bytes)]
    return np.concatenate([words, others[: count - words.shape[0]]])


def nearest(rows: Array, words: Array, runtime: Runtime) -> Array:
    """Return the number of the nearest word of each row, the smallest number if several are equally near."""
    out, search = np.empty(rows.shape[0], np.int32), runtime.module.searcher(words)
    size = min(runtime.module.SEARCH_ROWS, max(-(-rows.shape[0] // runtime.threads), 1 << 10))
    runtime.spread(rows.shape[0], lambda lo, hi: search(rows[lo:hi], out[lo:hi]), size)
    return out


def squared_distances(rows: Array, others: Array) -> Array:
    """Return the squared distance between row i of both tables, for every i."""
    return np.asarray(((rows.astype(np.int32) - others) ** 2).sum(1))


def leaders(rows: Array, threshold: int, max_leaders: int, runtime: Runtime) -> Array:
    """Return the first `max_leaders` rows that are farther than the threshold from every leader before them."""
    result, lo, size = rows[:0], 0, MIN_LEADER_BLOCK_ROWS
    while lo < rows.shape[0] and result.shape[0] < max_leaders:
        block = _rows_beyond(rows[lo : lo + size], result, threshold, runtime)
        new = rows[:0]
        # The search for the nearest leader is much faster than comparing rows one by one: drop most rows with it.
        for first in range(0, block.shape[0], PAIRWISE_ROWS):
            candidates = _rows_beyond(block[first : first + PAIRWISE_ROWS], new, threshold, runtime)
            is_leader = np.zeros(candidates.shape[0], np.bool_)
            runtime.module.leaders(candidates, threshold, is_leader)
            new = np.concatenate([new, candidates[is_leader]])
        result = np.concatenate([result, new])
        lo, size = lo + size, min(2 * size, MAX_LEADER_BLOCK_ROWS)
    return result[:max_leaders]


def _rows_beyond(rows: Array, words: Array, threshold: int, runtime: Runtime) -> Array:
    """Return the rows that are farther than the threshold from their nearest word; all rows if there are no words."""
    if not words.shape[0]:
        return rows
    return rows[squared_distances(rows, words[nearest(rows, words, runtime)]) > threshold]


def k_means(rows: Array, words: Array, iterations: int, runtime: Runtime) -> Array:
    """Return the words after at most so many iterations of k-means, fewer if nothing changes any more."""
    for _ in range(iterations):
        before = words
        words, _ = _cluster_means(rows, words, runtime)
        if np.array_equal(words, before):
            break
    return words


def _cluster_means(rows: Array, words: Array, runtime: Runtime) -> tuple[Array, Array]:
    """Return the rounded mean of the rows nearest to each word, and their number; a word without rows stays."""
    labels = nearest(rows, words, runtime)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=words.shape[0])
    used, words = np.flatnonzero(sizes), words.copy()
    sums = np.add.reduceat(rows[order], (np.cumsum(sizes) - sizes)[used], axis=0, dtype=np.int64)
    words[used] = (2 * sums + sizes[used, None]) // (2 * sizes[used, None])
    return words, sizes


def nearest_pairs(rows: Array, runtime: Runtime) -> NearestPairs:
    """Return all rows with their nearest others; of many rows a sample, with the nearest of a second, disjoint one."""
    count = rows.shape[0]
    if count <= _MAX_ALL_PAIRS_ROWS:
        distances = ((rows[:, None].astype(np.int32) - rows[None]) ** 2).sum(2)
        np.fill_diagonal(distances, np.iinfo(np.int32).max)
        sample, others = rows, rows[distances.argmin(1)]
    else:
        sample, candidates = rows[: count // 8][: 1 << 13], rows[count // 8 : count // 2][: 1 << 17]
        others = candidates[nearest(sample, candidates, runtime)]
    return NearestPairs(sample, others, int(np.sort(squared_distances(sample, others))[sample.shape[0] // 2]))


def scaled_distance(distance: int, power: int) -> int:
    """Return a squared distance times 2^(power / 2), rounded down."""
    return isqrt((distance * distance << (power + 20)) >> 20)


def best_threshold(rows: Array, pairs: NearestPairs, max_words: int, seed: int, runtime: Runtime) -> int:
    """Return the distance between words under which the two rows of a pair agree best, tried from large to small.

    The search ends when agreement has clearly passed a peak, or cannot improve, or there are `max_words` words. A peak
    counts only above _CHANCE_AGREEMENT: a few words far apart agree by chance. The nearest row is closer than a typical
    second sample of the same thing, which favours too many words, so the fewest words with nearly the best agreement
    win.
    """
    sample, trials = rows[:MAX_TRIAL_ROWS], dict[int, tuple[float, int]]()  # power -> agreement, number of words
    max_words = max(min(sample.shape[0] // 2, max_words), 1)

    def try_power(power: int) -> float:
        if power not in trials:
            words = separated_words(sample, scaled_distance(pairs.distance, power), max_words, runtime)
            words = k_means(sample, words, _TRIAL_ITERATIONS, runtime)
            first, second = (nearest(table, words, runtime) for table in (pairs.rows, pairs.nearest))
            trials[power] = agreement(first, second, seed), words.shape[0]
        return trials[power][0]

    power, perfect = _MAX_POWER, 1 - AGREEMENT_TOLERANCE
    while power > -_MAX_POWER and trials.get(power + 2, (0.0, 0))[1] < max_words:
        current, highest = try_power(power), max(trials.values())[0]
        if current >= perfect or highest > max(1.05 * current, _CHANCE_AGREEMENT):
            break
        power -= 2
    best = max(trials, key=try_power)
    if try_power(best + 1) < perfect and try_power(best) < perfect:
        try_power(best - 1)
    lowest = max(trials.values())[0] - AGREEMENT_TOLERANCE
    return scaled_distance(pairs.distance, max(power for power, (value, _) in trials.items() if value >= lowest))


def agreement(words: Array, other_words: Array, seed: int) -> float:
    """Return how often the smallest min-hash of a group of rows is at the same place in the group of their pairs."""
    usable = words.shape[0] // _GROUP_ROWS * _GROUP_ROWS
    numbers = np.arange(usable)
    matches = 0
    for turn in range(4):
        first, second = (
            (draw(seed, TWIN, turn, 0, labels[:usable]) >> np.uint64(20) << np.uint64(20))
            | (draw(seed, TWIN, turn, table, numbers) >> np.uint64(44))  # equal words: a random order
            for table, labels in ((1, words), (2, other_words))
        )
        matches += int((first.reshape(-1, _GROUP_ROWS).argmin(1) == second.reshape(-1, _GROUP_ROWS).argmin(1)).sum())
    return float(matches / max(4 * usable // _GROUP_ROWS, 1))
