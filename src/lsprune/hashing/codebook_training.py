"""Train the words of a codebook: leader clustering for the initial words, then k-means, all in integers.

k-means that starts from random rows often puts two words into one cluster and none into another, and cannot repair
that. Leader clustering takes a row as a new word only if it is farther than a threshold from all words so far, so that
each cluster gets one. The threshold is chosen by trial: a row and its nearest other row are likely to be two samples of
the same thing, so the best threshold is the one under which such pairs are given the same word most often.

All distances in this module are squared Euclidean distances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt

import numpy as np

from lsprune.graph import Array
from lsprune.hashing.k_means import cluster_means, k_means, nearest
from lsprune.hashing.word_lists import squared_distances
from lsprune.hashing.word_search import WordSearch
from lsprune.numeric.random_numbers import TWIN, draw

MAX_TRAINING_ROWS = 1 << 19  # rows used to train the final words
MAX_TRIAL_ROWS = 1 << 17  # rows used to try a threshold
MAX_REGION_ROWS = 1 << 16  # rows around one centre from which the threshold is chosen, about
MAX_FLAT_TRAINING_WORDS = 1 << 12  # words that are searched exactly while words are learned from so many rows
MAX_CHOSEN_WORDS = 1 << 16  # words, if their number is chosen from the data
MIN_LEADER_BLOCK_ROWS, MAX_LEADER_BLOCK_ROWS = 1 << 10, 1 << 13  # rows compared with the leaders so far at a time
PAIRWISE_ROWS = 1 << 9  # rows compared one by one with each other
AGREEMENT_TOLERANCE = 0.02  # agreement that may be lost if fewer words are enough
FINE_TOLERANCE = 0.01  # the same if distances are tried in finer steps
_TRIAL_ITERATIONS = 1  # of k-means for each threshold that is tried
_MIN_ROWS_PER_WORD = 4  # if the number of words is chosen: with fewer, words would memorise single rows
_GROUP_ROWS = 8  # rows among which the smallest min-hash is compared, as in a neighbourhood
_CHANCE_AGREEMENT = 2 / _GROUP_ROWS  # twice the agreement of random words: lower values mean nothing
_REGION_SAMPLE_ROWS, _REGION_ITERATIONS = 1 << 12, 4  # to find the centres of regions
_MAX_ALL_PAIRS_ROWS = 1 << 9  # up to so many, every row is compared with every other
_MAX_STEPS = 20  # thresholds from 2^(-20/4) to 2^(20/4) times the median distance of nearest rows are tried


@dataclass(frozen=True, eq=False)
class NearestPairs:
    """A sample of rows, the nearest other row of each, and the median distance between the two."""

    rows: Array
    nearest: Array
    distance: int


def train_words(rows: Array, count: int | None, iterations: int, seed: int, search: WordSearch) -> Array:
    """Return words `[count, width]` from distinct rows in random order; without `count` the data decide how many."""
    if rows.shape[0] < 2 * _GROUP_ROWS and count is None:
        return rows  # too few to tell which of them are similar
    if count is not None:
        pairs, sample = nearest_pairs(rows, search), rows[: max(MAX_TRAINING_ROWS, 16 * count)]
        words = separated_words(sample, scaled_distance(pairs.distance, 4), count, search)
        return k_means(sample, _with_more_rows(words, rows, count), iterations, search.nearest)
    if rows.shape[0] >= 2 * MAX_REGION_ROWS:
        search = replace(search, max_flat_words=MAX_FLAT_TRAINING_WORDS)
    sample = rows[:MAX_TRAINING_ROWS]
    words = separated_words(sample, chosen_threshold(rows, seed, search), _max_words(rows), search)
    return k_means(sample, words, iterations, search.nearest)


def chosen_threshold(rows: Array, seed: int, search: WordSearch) -> int:
    """Return the distance between words that is best for these rows."""
    part = rows if search.exact else region(rows, search)
    pairs = nearest_pairs(part, search)
    others = part if part.shape[0] <= _MAX_ALL_PAIRS_ROWS else part[pairs.rows.shape[0] :]
    fine = part.shape[0] < rows.shape[0]  # trials are cheap
    return best_threshold(others, pairs, _max_words(part), seed, search, fine=fine)


def _max_words(rows: Array) -> int:
    """Return how many words are chosen at most."""
    return int(max(min(rows.shape[0] // _MIN_ROWS_PER_WORD, MAX_CHOSEN_WORDS), 1))


def region(rows: Array, search: WordSearch) -> Array:
    """Return about MAX_REGION_ROWS rows that lie together, so that each cluster among them is whole; all if few.

    A sample of as many rows from everywhere would have more clusters, with too few rows of each to learn its word.
    """
    parts = rows.shape[0] // MAX_REGION_ROWS
    if parts < 2:
        return rows
    sample = rows[:_REGION_SAMPLE_ROWS]
    centres = k_means(sample, sample[:parts], _REGION_ITERATIONS, search.nearest)
    labels = search.nearest(rows, centres)
    sizes = np.bincount(labels, minlength=parts)
    return np.asarray(rows[labels == np.argsort(sizes, kind="stable")[parts // 2]])  # of median size


def separated_words(rows: Array, threshold: int, max_words: int, search: WordSearch) -> Array:
    """Return words farther apart than the threshold: the means of the leaders' clusters, without those of outliers.

    A row at the border of a cluster may become a leader too. The mean of the rows nearest to it then lies close to the
    mean of the main cluster. The largest clusters come first in a second pass, which therefore drops the smaller one.
    """
    words = leaders(rows, threshold, max_words, search)
    words, sizes = cluster_means(rows, words, search.nearest(rows, words))
    return leaders(words[np.argsort(-sizes, kind="stable")], threshold, max_words, search)


def _with_more_rows(words: Array, rows: Array, count: int) -> Array:
    """Return the words, followed by as many other rows as are missing to `count`."""
    row_bytes, word_bytes = (
        np.ascontiguousarray(table).view(f"V{table.itemsize * table.shape[1]}")[:, 0] for table in (rows, words)
    )
    others = rows[~np.isin(row_bytes, word_bytes)]
    return np.concatenate([words, others[: count - words.shape[0]]])


def leaders(rows: Array, threshold: int, max_leaders: int, search: WordSearch) -> Array:
    """Return the first `max_leaders` rows that are farther than the threshold from every leader before them."""
    result, lo, size, coarse = rows[:0], 0, MIN_LEADER_BLOCK_ROWS, None
    while lo < rows.shape[0] and result.shape[0] < max_leaders:
        if coarse is None:
            coarse = search.coarse_words(result)  # they do for all leaders to come
        block = search.beyond(rows[lo : lo + size], result, coarse, threshold)
        new = rows[:0]
        # The search for the nearest leader is much faster than comparing rows one by one: drop most rows with it.
        for first in range(0, block.shape[0], PAIRWISE_ROWS):
            candidates = search.beyond(block[first : first + PAIRWISE_ROWS], new, None, threshold)
            is_leader = np.zeros(candidates.shape[0], np.bool_)
            search.runtime.module.leaders(candidates, threshold, is_leader)
            new = np.concatenate([new, candidates[is_leader]])
        result = np.concatenate([result, new])
        lo, size = lo + size, min(2 * size, MAX_LEADER_BLOCK_ROWS)
    return result[:max_leaders]


def nearest_pairs(rows: Array, search: WordSearch) -> NearestPairs:
    """Return all rows with their nearest others; of many rows a sample, with the nearest of a second, disjoint one."""
    count = rows.shape[0]
    if count <= _MAX_ALL_PAIRS_ROWS:
        distances = ((rows[:, None].astype(np.int32) - rows[None]) ** 2).sum(2)
        np.fill_diagonal(distances, np.iinfo(np.int32).max)
        sample, others = rows, rows[distances.argmin(1)]
    else:
        sample, candidates = rows[: count // 8][: 1 << 13], rows[count // 8 : count // 2][: 1 << 17]
        others = candidates[nearest(sample, candidates, search.runtime)]
    return NearestPairs(sample, others, int(np.sort(squared_distances(sample, others))[sample.shape[0] // 2]))


def scaled_distance(distance: int, steps: int) -> int:
    """Return a squared distance times 2^(steps / 4), rounded down."""
    return isqrt(isqrt((distance**4 << (steps + 40)) >> 40))


def best_threshold(
    rows: Array, pairs: NearestPairs, max_words: int, seed: int, search: WordSearch, *, fine: bool = False
) -> int:
    """Return the distance between words under which the two rows of a pair agree best, tried from large to small.

    The search ends when agreement has clearly passed a peak, or cannot improve, or there are `max_words` words. A peak
    counts only above _CHANCE_AGREEMENT: a few words far apart agree by chance. The nearest row is closer than a typical
    second sample of the same thing, which favours too many words, so the fewest words with nearly the best agreement
    win. With `fine`, one more distance is tried, a little above the best.
    """
    sample, trials = rows[:MAX_TRIAL_ROWS], dict[int, tuple[float, int]]()  # steps -> agreement, number of words
    max_words = max(min(sample.shape[0] // 2, max_words), 1)

    def try_steps(steps: int) -> float:
        if steps not in trials:
            words = separated_words(sample, scaled_distance(pairs.distance, steps), max_words, search)
            words = k_means(sample, words, _TRIAL_ITERATIONS, search.nearest)
            first, second = (search.nearest(table, words) for table in (pairs.rows, pairs.nearest))
            trials[steps] = agreement(first, second, seed), words.shape[0]
        return trials[steps][0]

    steps, perfect = _MAX_STEPS, 1 - AGREEMENT_TOLERANCE
    while steps > -_MAX_STEPS and trials.get(steps + 4, (0.0, 0))[1] < max_words:
        current, highest = try_steps(steps), max(trials.values())[0]
        if current >= perfect or highest > max(1.05 * current, _CHANCE_AGREEMENT):
            break
        steps -= 4
    best = max(trials, key=try_steps)
    if try_steps(best + 2) < perfect and try_steps(best) < perfect:
        try_steps(best - 2)
    if fine:
        try_steps(max(trials, key=try_steps) + 1)
    lowest = max(trials.values())[0] - (FINE_TOLERANCE if fine else AGREEMENT_TOLERANCE)
    return scaled_distance(pairs.distance, max(steps for steps, (value, _) in trials.items() if value >= lowest))


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
