"""Draws of tensors have the bits of `numeric.random_numbers`, and so of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import WORDS, bits, tensor, words

from lsprune.kernels import reference
from lsprune.kernels.gpu.splitmix import draw, mix64, modulo, shift_right, signed
from lsprune.numeric import random_numbers


def test_words_are_mixed_as_the_definition_does(device):
    values = words(0, 50)
    assert bits(mix64(tensor(values, device))).tolist() == [reference.mix(int(value)) for value in values]
    assert 0 in mix64(tensor(values, device)).tolist()
    assert mix64(tensor(values[:0], device)).shape == (0,)
    square = values[:36].reshape(6, 6)
    np.testing.assert_array_equal(bits(mix64(tensor(square, device))), random_numbers.mix64(square))


@pytest.mark.parametrize("value", WORDS.tolist())
def test_signed_numbers_have_the_bits_of_unsigned_ones(value):
    assert signed(value) == int(np.array([value], np.uint64).view(np.int64)[0])
    assert signed(value + 2**64) == signed(value)


@pytest.mark.parametrize("shift", [0, 1, 27, 34, 63])
def test_zeros_come_in_at_the_left(shift, device):
    assert bits(shift_right(tensor(WORDS, device), shift)).tolist() == [value >> shift for value in WORDS.tolist()]


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1, -1])
def test_draws_are_those_of_the_host(seed, device):
    counters = (3, np.arange(-2, 5)[:, None], np.array([0, 2**40, -(2**63)]))
    expected = random_numbers.draw(seed, *counters)
    tensors = (3, tensor(counters[1], device), counters[2])
    np.testing.assert_array_equal(bits(draw(seed, tensors, device)), expected)
    np.testing.assert_array_equal(bits(random_numbers.draw(seed, *tensors)), expected)  # a tensor among the counters
    narrow = tensor(counters[1].astype(np.int32), device)
    np.testing.assert_array_equal(bits(draw(seed, (3, narrow, counters[2]), device)), expected)


@pytest.mark.parametrize("divisor", [1, 2, 3, 10, 2**31 - 1, 2**32, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1])
def test_remainders_are_those_of_unsigned_words(divisor, device):
    near = np.array([divisor - 1, divisor, divisor + 1, 2 * divisor - 1, 2 * divisor, 2 * divisor + 1], np.uint64)
    values = np.concatenate([words(1, 50), near])
    assert modulo(tensor(values, device), divisor).tolist() == [value % divisor for value in values.tolist()]
