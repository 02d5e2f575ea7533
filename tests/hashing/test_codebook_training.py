"""Words of a codebook: leaders lie apart, means are means, and there are as many as the data has clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.hashing import codebook_training as vocabulary
from lsprune.hashing.codebook_training import leaders, separated_words, train_words
from lsprune.hashing.word_search import WordSearch
from lsprune.kernels import runtime

RUN = WordSearch(runtime(1), exact=True)
LISTS = WordSearch(runtime(1))
REFERENCE = runtime(1, "reference")


def blobs(clusters: int, each: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows around some centres in random order, and the cluster of each."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 40, (clusters, 16))
    which = rng.permutation(np.repeat(np.arange(clusters), each))
    rows = np.clip(np.round(centres[which] + rng.normal(0, noise, (which.size, 16))), -127, 127).astype(np.int16)
    return rows, which


def naive_leaders(rows: np.ndarray, distance: int) -> list[int]:
    found: list[int] = []
    for i, row in enumerate(rows.astype(int)):
        if all(((row - rows[j].astype(int)) ** 2).sum() > distance for j in found):
            found.append(i)
    return found


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), distance=st.integers(0, 400), most=st.integers(1, 60))
def test_leaders_are_those_of_a_plain_loop(seed, distance, most):
    rows = np.random.default_rng(seed).integers(-9, 10, (60, 3)).astype(np.int16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "MIN_LEADER_BLOCK_ROWS", 4)
        patch.setattr(vocabulary, "MAX_LEADER_BLOCK_ROWS", 16)
        patch.setattr(vocabulary, "PAIRWISE_ROWS", 3)
        found = leaders(rows, distance, most, RUN)
    np.testing.assert_array_equal(found, rows[naive_leaders(rows, distance)][:most])


def test_both_executors_find_the_same_leaders():
    rows = np.random.default_rng(0).integers(-127, 128, (80, 5)).astype(np.int16)
    for distance in (0, 3000, 9000, 10**6):
        masks = [np.zeros(80, np.bool_) for _ in range(2)]
        for name, mask in zip(("cpu", "reference"), masks, strict=True):
            runtime(1, name).module.leaders(rows, distance, mask)
        np.testing.assert_array_equal(*masks)
        assert masks[0][0]


def test_a_row_at_the_edge_of_a_cluster_makes_no_word_of_its_own():
    rows = np.array([[0], [9], [1], [2], [3], [4], [5], [6], [100], [101]], np.int16)  # 9 is a leader within 64
    assert leaders(rows, 64, 10, RUN).ravel().tolist() == [0, 9, 100]
    # 9 and 6 have a mean of 8, near that of the others
    assert separated_words(rows, 64, 10, RUN).ravel().tolist() == [2, 101]


@pytest.mark.parametrize("clusters", [30, 200])
def test_no_cluster_is_torn_apart(clusters):
    rows, which = blobs(clusters, 40, 6.0)
    words = train_words(rows, None, 2, 0, RUN)
    assert 0.7 * clusters < words.shape[0] < 1.1 * clusters  # near clusters may share one, but none has two
    of = RUN.nearest(rows, words)
    common = sum(np.bincount(of[which == c]).max() for c in range(clusters))
    assert common / rows.shape[0] > 0.98


def test_words_that_are_asked_for_are_as_many_and_spread_over_the_clusters():
    rows, which = blobs(60, 40, 6.0)
    for count in (1, 30, 60, 500, rows.shape[0]):
        assert train_words(rows, count, 2, 0, RUN).shape == (count, 16)
    of = RUN.nearest(train_words(rows, 60, 2, 0, RUN), rows)  # the row nearest to each word
    assert len(set(which[of])) > 50  # random rows of 60 clusters would be of 38


def test_words_are_the_same_on_any_threads_and_other_seeds_only_judge():
    rows, _ = blobs(50, 30, 8.0)
    first = train_words(rows, None, 2, 0, RUN)
    np.testing.assert_array_equal(first, train_words(rows, None, 2, 0, WordSearch(runtime(3), exact=True)))
    assert abs(train_words(rows, None, 2, 1, RUN).shape[0] - first.shape[0]) < 5


@pytest.mark.parametrize("count", [1, 2, 9])
def test_very_few_rows_have_words(count):
    rows = np.arange(count, dtype=np.int16)[:, None] * 20
    words = train_words(rows, None, 2, 0, RUN)
    assert 1 <= words.shape[0] <= count


def test_clusters_of_few_rows_have_words_too():
    for seed in range(4):
        rows, which = blobs(10, 3, 3.0, seed)
        words = train_words(rows, None, 2, seed, RUN)
        of = RUN.nearest(rows, words)
        assert words.shape[0] > 4
        assert all(len(set(of[which == c])) <= 2 for c in range(10))


@pytest.mark.parametrize(
    ("curve", "best"),
    [
        ([0.13, 0.12, 0.3, 0.8, 0.6], 4),  # what lies below chance is no peak to have passed
        ([0.13, 0.12, 0.11, 0.12], 10),  # nothing but chance: the fewest words
        ([0.3, 0.5, 0.4, 0.9], 8),  # a peak above it ends the search
    ],
)
def test_the_search_for_a_distance_does_not_stop_at_a_peak_of_chance(curve, best, monkeypatch):
    rows, _ = blobs(30, 40, 6.0)
    twins = vocabulary.nearest_pairs(rows, RUN)
    powers = {vocabulary.scaled_distance(twins.distance, 2 * power): power for power in range(-12, 12)}
    asked: list[int] = []

    def spied(rows, distance, *rest):
        asked.append(powers[distance])
        return separated_words(rows, distance, *rest)

    monkeypatch.setattr(vocabulary, "separated_words", spied)
    fallen = {10 - 2 * i: value for i, value in enumerate(curve)}
    monkeypatch.setattr(vocabulary, "agreement", lambda *_: fallen.get(asked[-1], 0.1))
    assert powers[vocabulary.best_threshold(rows, twins, rows.shape[0], 0, RUN)] == best


def test_distances_are_scaled_by_roots_of_two():
    for distance in (0, 1, 7, 1000, 3 * 255**2 * 128):
        for steps in range(-22, 23):
            expected = distance * 2 ** (steps / 4)
            assert abs(vocabulary.scaled_distance(distance, steps) - expected) <= 1 + expected * 1e-9
        assert vocabulary.scaled_distance(distance, 0) == distance


def many_blobs() -> tuple[np.ndarray, np.ndarray]:
    """More rows than a region has, in far more clusters than an exact search takes without lists."""
    rng = np.random.default_rng(1)
    centres = rng.normal(0, 30, (400, 6))
    which = rng.integers(0, 400, 9000)
    rows = np.clip(np.round(centres[which] + rng.normal(0, 3, (9000, 6))), -127, 127).astype(np.int16)
    return rows, which


@pytest.fixture
def small_lists(monkeypatch):
    """Lists from 64 words on, and regions of 1,000 rows."""
    monkeypatch.setattr(vocabulary, "MAX_FLAT_TRAINING_WORDS", 64)
    monkeypatch.setattr(vocabulary, "MAX_REGION_ROWS", 1000)


def test_a_region_is_rows_that_lie_together():
    rows, which = many_blobs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "MAX_REGION_ROWS", 1000)
        part = vocabulary.region(rows, LISTS)
    inside = (rows[:, None, :] == part[None, :200]).all(2).any(1)
    assert 300 < part.shape[0] < 3000
    whole = np.bincount(which[inside], minlength=400)
    assert np.median(whole[whole > 0]) >= 1
    assert part.astype(float).std(0).mean() < rows.astype(float).std(0).mean()
    assert vocabulary.region(rows, LISTS) is rows  # few rows


def test_words_learned_by_lists_are_nearly_as_good_as_exact_ones(small_lists):
    rows, which = many_blobs()
    shares = {}
    for name, search in (("exact", RUN), ("lists", LISTS)):
        words = train_words(rows, None, 2, 0, search)
        of = search.nearest(rows, words)
        shares[name] = sum(np.bincount(of[which == c]).max() for c in range(400)) / rows.shape[0]
    assert shares["lists"] > shares["exact"] - 0.03


def test_words_learned_by_lists_are_the_same_on_any_threads_and_executor(small_lists):
    rows = many_blobs()[0]
    first = train_words(rows, None, 2, 0, LISTS)
    np.testing.assert_array_equal(first, train_words(rows, None, 2, 0, WordSearch(runtime(3))))
    few = rows[:700]
    found = [train_words(few, 100, 1, 0, WordSearch(run, max_flat_words=64)) for run in (runtime(1), REFERENCE)]
    np.testing.assert_array_equal(*found)
