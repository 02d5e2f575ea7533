"""Estimate from repeated runs: means with intervals, paired differences with verdicts, and the lossless share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from lsprune.errors import OptionError

RESAMPLES = 10_000
CONFIDENCE = 0.95
MIN_VERDICT_RUNS = 3
MAX_EXACT_PAIRS = 16  # up to here all 2^pairs sign flips are enumerated
ROUNDING = 1e-12  # how much the order of additions may change a mean
PAIRWISE_FROM = 8  # numpy adds fewer numbers than this from left to right

Draws = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % bootstrap interval; the bounds are NaN for fewer than two runs."""

    mean: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]" if self.runs > 1 else f"{self.mean:.4f} (one run)"


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of paired runs, its 95 % interval, and a p-value.

    Args:
        p: two-sided sign-flip permutation test; the smallest possible value is 2 / 2^runs.
    """

    difference: float
    low: float
    high: float
    p: float
    runs: int

    @property
    def verdict(self) -> str:
        """What the interval says: better, unclear, worse; or the number of runs where they are too few.

        >>> PairedDifference(0.2, 0.1, 0.3, 0.06, 5).verdict, PairedDifference(0.0, 0.0, 0.0, 1.0, 5).verdict
        ('better', 'unclear')
        """
        if self.runs < MIN_VERDICT_RUNS:
            return "one run" if self.runs == 1 else f"{self.runs} runs"
        return "better" if self.low > 0 else "unclear" if self.high >= 0 else "worse"


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """Return the mean of independent runs and its 95 % percentile bootstrap interval.

    The numbers are those of `scipy.stats.bootstrap` with `numpy.random.default_rng(seed)`, bit for bit.

    >>> estimate([0.5, 0.5, 0.5])
    Estimate(mean=0.5, low=0.5, high=0.5, runs=3)
    """
    return _estimate(tuple(values), seed, RESAMPLES)


def paired_difference(ours: Mapping[int, float], theirs: Mapping[int, float], *, seed: int = 0) -> PairedDifference:
    """Return ours minus theirs over the seeds that both have: an equal seed means an equal split and start.

    >>> paired_difference({0: 0.8, 1: 0.9}, {0: 0.7, 1: 0.8}).difference
    0.1
    """
    common = sorted(set(ours) & set(theirs))
    if not common:
        raise OptionError("runs must share at least one seed to be compared in pairs, got none")
    gaps = np.round(_numbers([ours[s] - theirs[s] for s in common]), 12)  # 0.9 - 0.8 is meant to be 0.1
    return _difference(tuple(gaps.tolist()), seed, RESAMPLES)


def lossless_share(
    runs: Mapping[float, Sequence[float]],
    unpruned: Sequence[float],
    *,
    tolerance: float = 0.005,
    higher_is_better: bool = True,
    seed: int = 0,
) -> float | None:
    """Return the smallest share from which on every interval reaches the unpruned mean less the tolerance, or None.

    Args:
        runs: the metric of every run at each share of edges kept.
        unpruned: the metric of the runs on the whole graph.
        tolerance: 0.005 is half a point of accuracy; for an error it is added instead.

    >>> lossless_share({0.25: [0.7, 0.71], 0.5: [0.8, 0.8]}, [0.8, 0.8])
    0.5
    """
    level = estimate(unpruned, seed=seed).mean + (-tolerance if higher_is_better else tolerance)
    smallest: float | None = None
    for share in sorted(runs, reverse=True):
        at_share = estimate(runs[share], seed=seed)
        reached = at_share.mean if at_share.runs < 2 else at_share.high if higher_is_better else at_share.low
        if (reached < level - ROUNDING) if higher_is_better else (reached > level + ROUNDING):
            break
        smallest = share
    return smallest


# The same values are asked for in several places of a page, so that results are kept by content. The number of
# resamples is a part of the key because tests lower it.


@cache
def _estimate(values: tuple[float, ...], seed: int, resamples: int) -> Estimate:
    runs = _numbers(values)
    if runs.size < 2:
        return Estimate(float(runs.mean()), math.nan, math.nan, int(runs.size))
    means, counts = _resampled_means(runs, seed, resamples)
    order = np.argsort(means)
    last = np.cumsum(counts[order])  # of each distinct mean, in order: the number of resamples up to it
    low, high = (_quantile(means[order], last, share) for share in ((1 - CONFIDENCE) / 2, 1 - (1 - CONFIDENCE) / 2))
    return Estimate(float(runs.mean()), low, high, int(runs.size))


@cache
def _difference(gaps: tuple[float, ...], seed: int, resamples: int) -> PairedDifference:
    spread = _estimate(gaps, seed, resamples)
    return PairedDifference(spread.mean, spread.low, spread.high, _sign_flip(np.array(gaps), seed), len(gaps))


def _resampled_means(runs: np.ndarray, seed: int, resamples: int) -> Draws:
    """Return the means of the resamples, and how often each was drawn; equal to numpy's mean of every resample."""
    places, counts = _draws(runs.size, seed, resamples)
    if runs.size < PAIRWISE_FROM:
        return runs[places].sum(axis=0) / runs.size, counts
    return runs[places].mean(axis=-1), counts


@lru_cache(maxsize=8)
def _draws(runs: int, seed: int, resamples: int) -> Draws:
    """Return the positions of the resamples of so many runs, and how often each resample was drawn.

    Few runs have few distinct resamples: 27 of 3 runs, 3,125 of 5. They are columns, which add up faster. As a + b =
    b + a in floating point, their first two positions may be exchanged. Many runs have a row for every resample.
    """
    places = np.random.default_rng(seed).integers(0, runs, (resamples, runs))
    if runs >= PAIRWISE_FROM:
        return places, np.ones(resamples, dtype=np.int64)
    places[:, :2].sort(axis=1)
    distinct, counts = np.unique(places, axis=0, return_counts=True)
    return np.ascontiguousarray(distinct.T), counts


def _quantile(ordered: np.ndarray, last: np.ndarray, share: float) -> float:
    """Return the linearly interpolated quantile of values that occur several times each (Hyndman and Fan, type 7)."""
    place = share * int(last[-1]) + (1 - share)
    below, part = int(place) - 1, place % 1
    lower, upper = ordered[np.searchsorted(last, [below, below + 1], side="right")]
    return float((1 - part) * lower + part * upper)


def _sign_flip(gaps: np.ndarray, seed: int) -> float:
    """Return the share of all ways to exchange the two sides of each pair that give a mean at least as far from 0."""
    if gaps.size <= MAX_EXACT_PAIRS:
        signs = _all_signs(gaps.size)
    else:
        signs = np.random.default_rng(seed).choice([-1, 1], (RESAMPLES, gaps.size))
        signs[0] = 1
    sums = np.abs(signs @ gaps)
    return float(np.mean(sums >= abs(gaps.sum()) - ROUNDING))


@cache
def _all_signs(count: int) -> np.ndarray:
    return 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)


def _numbers(values: Sequence[float]) -> np.ndarray:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise OptionError(f"values must be finite numbers, at least one, got {list(values)}")
    return numbers
