from __future__ import annotations

import math

import numpy as np

from lsprune.kernels import runtime
from lsprune.numeric.random_numbers import draw
from lsprune.numeric.weighted_sampling import (
    FRACTION_BITS,
    LOG_KEY_BITS,
    LOG_KEY_UNIT,
    inverse_chances,
    log2,
    log_times,
)


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


def test_the_chance_of_a_key_below_a_limit_is_how_often_it_is():
    draws = draw(3, 2, np.arange(1_000_000))
    keys = log_times(draws, np.zeros(1, np.int64), runtime(1)) >> (FRACTION_BITS - LOG_KEY_BITS)
    for limit in (16, 26, 30, 32, 33, 34):
        whole = limit * LOG_KEY_UNIT + 12345
        chance = 1 / float(inverse_chances(np.array([whole]), LOG_KEY_UNIT)[0])
        assert abs((keys < whole).mean() - chance) <= 3 * (chance * (1 - chance) / keys.size) ** 0.5


def test_chances_are_those_of_the_rounded_keys():
    """Keys are logarithms of whole numbers: below log2(2.5) are those of 1 and 2."""
    one = 2.0**-32 * math.log(2)  # the chance of the first, nearly
    limits = (np.log2([1.5, 2, 2.5, 3.5]) * 2.0**32).astype(np.int64)
    np.testing.assert_allclose(inverse_chances(limits, 1 << 32) * one, [1, 1, 1 / 2, 1 / 3], rtol=1e-6)
    assert inverse_chances(np.array([10**6]), 1).tolist() == [1]
    assert inverse_chances(np.array([0]), 1).dtype == np.float32
