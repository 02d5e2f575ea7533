from __future__ import annotations

import math

import numpy as np

from lsprune.kernels import runtime
from lsprune.numeric.random_numbers import draw
from lsprune.numeric.weighted_sampling import log2, log_times


def test_the_logarithm_is_right():
    rng = np.random.default_rng(0)
    values = np.concatenate([1 << np.arange(63), rng.integers(1, 2**62, 500), [3, 5, 7, 2**63 - 1]]).astype(np.uint64)
    values = np.append(values, np.uint64(2**64 - 1))
    found = log2(values, runtime(2))
    true = np.array([math.log2(int(value)) * 2.0**32 for value in values])
    assert abs(found - true).max() < 16  # of 2^32: the top 32 bits of a value are looked at
    assert (found[:63] == np.arange(63) << 32).all()
    assert found[-1] < 64 << 32


def test_the_race_is_that_of_exponential_times():
    draws = draw(1, 2, np.arange(1000))
    weight = np.random.default_rng(0).integers(1, 10**6, 1000)
    found = log_times(draws, log2(weight, runtime(1)), runtime(1))
    true = np.log2(-np.log2(draws.astype(float) / 2.0**64) / weight) * 2.0**32
    assert abs(found - true - (32 << 32)).max() / 2.0**32 < 1e-3  # times of about 2^-20 have 12 bits


def test_no_draw_is_too_small_or_too_large():
    ends = np.array([0, 2**64 - 1], np.uint64)
    last, first = log_times(ends, np.zeros(2, np.int64), runtime(1)).tolist()
    assert 0 <= first <= 1 << 32
    assert last == 38 << 32  # -log2(2^-64) = 2^6, in units of 2^-32
