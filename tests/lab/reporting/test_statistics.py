from __future__ import annotations

import math

import numpy as np
import pytest

from lsprune import OptionError
from lsprune.lab.reporting.statistics import PairedDifference, estimate, lossless_share, paired_difference


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = [one.low <= 0.8 <= one.high for one in (estimate(rng.normal(0.8, 0.05, 20).tolist()) for _ in range(200))]
    assert 0.88 <= np.mean(hits) <= 0.99


def test_the_interval_shrinks_with_more_runs_and_is_the_same_twice():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, 80).tolist()
    few, many = estimate(values[:5]), estimate(values)
    assert many.high - many.low < few.high - few.low
    assert estimate(values) == many
    assert few.low <= few.mean <= few.high


@pytest.mark.parametrize("runs", [2, 3, 5, 7, 8, 9, 20, 33])
def test_the_interval_is_that_of_scipy_but_for_rounding(runs):
    from scipy.stats import bootstrap

    rng = np.random.default_rng(runs)
    for values in (rng.normal(0.8, 0.02, runs), np.round(rng.random(runs), 2), 1e6 * rng.random(runs)):
        reference = bootstrap(
            (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(0)
        ).confidence_interval
        result = estimate(values.tolist())
        assert (result.low, result.high) == pytest.approx((reference.low, reference.high), rel=1e-14)


def test_another_seed_gives_another_interval():
    values = [0.1, 0.5, 0.6, 0.65, 0.9, 0.2]
    assert estimate(values, seed=1) != estimate(values)


def test_one_run_has_no_interval():
    single = estimate([0.7])
    assert (single.mean, single.runs) == (0.7, 1)
    assert math.isnan(single.low)
    assert str(single) == "0.7000 (one run)"


def test_pairs_see_what_means_hide():
    rng = np.random.default_rng(2)
    split = {seed: float(rng.normal(0.8, 0.05)) for seed in range(10)}  # hard and easy splits
    ours = {seed: value + 0.01 for seed, value in split.items()}
    found = paired_difference(ours, split)
    assert found.difference == pytest.approx(0.01)
    assert found.low > 0
    assert found.p == pytest.approx(2 / 2**10)
    wide = estimate(list(ours.values()))
    assert wide.low < estimate(list(split.values())).mean  # unpaired, nothing could be said


def test_chance_gives_large_p_values():
    rng = np.random.default_rng(3)
    pairs = [[dict(enumerate(rng.normal(0, 1, 8))) for _ in range(2)] for _ in range(200)]
    p = [paired_difference(*pair).p for pair in pairs]
    assert np.mean(np.array(p) < 0.05) < 0.1
    assert paired_difference({1: 0.5, 2: 0.6, 9: 0.1}, {1: 0.5, 2: 0.6, 7: 0.3}).p == 1.0


def test_many_pairs_are_sampled():
    rng = np.random.default_rng(4)
    theirs = dict(enumerate(rng.normal(0, 1, 40)))
    assert paired_difference({seed: value + 3 for seed, value in theirs.items()}, theirs).p < 0.001


@pytest.mark.parametrize("sign", [1, -1])
def test_lossless_share_for_scores_and_errors(sign):
    runs = {0.1: [0.7, 0.72], 0.25: [0.79, 0.799], 0.5: [0.79, 0.81], 0.75: [0.8, 0.8]}
    turned = {share: [sign * value for value in values] for share, values in runs.items()}
    assert lossless_share(turned, [sign * 0.8] * 3, higher_is_better=sign > 0) == 0.25
    assert lossless_share(turned, [sign * 0.8] * 3, tolerance=0.0, higher_is_better=sign > 0) == 0.5
    assert lossless_share(turned, [sign * 0.9] * 3, higher_is_better=sign > 0) is None


def test_a_lucky_small_share_below_a_bad_one_does_not_count():
    assert lossless_share({0.1: [0.8, 0.8], 0.5: [0.5, 0.5], 0.9: [0.8, 0.8]}, [0.8, 0.8]) == 0.9


@pytest.mark.parametrize("values", [[], [float("nan")], [1.0, float("inf")]])
def test_bad_values_are_named(values):
    with pytest.raises(OptionError, match="values must be finite numbers, at least one"):
        estimate(values)


def test_runs_without_a_common_seed_are_named():
    with pytest.raises(OptionError, match="share at least one seed"):
        paired_difference({0: 1.0}, {1: 1.0})


def test_verdicts_at_the_border():
    def at(low, high, runs=5):
        return PairedDifference(0.5 * (low + high), low, high, 1.0, runs).verdict

    assert [at(0.0, 0.0), at(-1, 0.0), at(0.0, 1), at(1e-9, 1), at(-1, -1e-9)] == [
        "unclear", "unclear", "unclear", "better", "worse",
    ]  # fmt: skip
    assert [at(1, 1, runs) for runs in (1, 2, 3)] == ["one run", "2 runs", "better"]
