"""What repeated runs say: means with honest intervals, paired comparisons, and the share that loses nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lsprune.errors import OptionError

RESAMPLES = 10_000
_NOISE = 1e-12  # what the order of additions may do to a mean


@dataclass(frozen=True)
class Estimate:
    """A mean and its 95 % bootstrap interval; the interval is not a number for fewer than two runs."""

    mean: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]" if self.runs > 1 else f"{self.mean:.4f} (one run)"


@dataclass(frozen=True)
class Comparison:
    """The mean difference of paired runs, its 95 % interval, and how often chance alone would do as well."""

    difference: float
    low: float
    high: float
    p: float  # two-sided sign-flip permutation test: smallest possible value 2 / 2^runs
    runs: int


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """Mean and 95 % percentile bootstrap interval of the mean of independent runs.

    >>> estimate([0.5, 0.5, 0.5])
    Estimate(mean=0.5, low=0.5, high=0.5, runs=3)
    """
    runs = _numbers(values)
    if runs.size < 2:
        return Estimate(float(runs.mean()), math.nan, math.nan, int(runs.size))
    from scipy.stats import bootstrap

    result = bootstrap(
        (runs,), np.mean, n_resamples=RESAMPLES, confidence_level=0.95, method="percentile",
        rng=np.random.default_rng(seed),
    )  # fmt: skip
    interval = result.confidence_interval
    return Estimate(float(runs.mean()), float(interval.low), float(interval.high), int(runs.size))


def compare(ours: Mapping[int, float], theirs: Mapping[int, float], *, seed: int = 0) -> Comparison:
    """Ours minus theirs over the seeds that both have: the same seed means the same split and the same start.

    >>> compare({0: 0.8, 1: 0.9}, {0: 0.7, 1: 0.8}).difference
    0.1
    """
    common = sorted(set(ours) & set(theirs))
    if not common:
        raise OptionError("runs must share at least one seed to be compared in pairs, got none")
    differences = np.round(_numbers([ours[s] - theirs[s] for s in common]), 12)  # 0.9 - 0.8 is meant to be 0.1
    spread = estimate(differences.tolist(), seed=seed)
    return Comparison(spread.mean, spread.low, spread.high, _sign_flip(differences, seed), len(common))


def _sign_flip(differences: np.ndarray, seed: int) -> float:
    """Share of all ways to swap the two sides of each pair that give a mean at least as far from zero."""
    count = differences.size
    if count <= 16:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
    else:
        signs = np.random.default_rng(seed).choice([-1, 1], (RESAMPLES, count))
        signs[0] = 1
    means = np.abs(signs @ differences)
    return float(np.mean(means >= abs(differences.sum()) - 1e-12))


def lossless_share(
    runs: Mapping[float, Sequence[float]],
    unpruned: Sequence[float],
    *,
    tolerance: float = 0.005,
    higher_is_better: bool = True,
    seed: int = 0,
) -> float | None:
    """The smallest share from which on every interval reaches the unpruned mean less the tolerance; None if none does.

    Args:
        runs: the metric of every run at each share of edges kept.
        unpruned: the metric of the runs on the whole graph.
        tolerance: 0.005 is half a point of accuracy; for an error it is added instead.

    >>> lossless_share({0.25: [0.7, 0.71], 0.5: [0.8, 0.8]}, [0.8, 0.8])
    0.5
    """
    level = estimate(unpruned, seed=seed).mean + (-tolerance if higher_is_better else tolerance)
    found: float | None = None
    for share in sorted(runs, reverse=True):
        spread = estimate(runs[share], seed=seed)
        reach = (spread.high if higher_is_better else spread.low) if spread.runs > 1 else spread.mean
        if (reach < level - _NOISE) if higher_is_better else (reach > level + _NOISE):
            break
        found = share
    return found


def _numbers(values: Sequence[float]) -> np.ndarray:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise OptionError(f"values must be finite numbers, at least one, got {list(values)}")
    return numbers
