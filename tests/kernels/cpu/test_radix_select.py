"""Selection and sorting by digits give what numpy gives."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels.cpu.radix_select import nth_smallest, ordered_bits, sort_by

RNG = np.random.default_rng(0)
VALUES = {
    "random": RNG.integers(0, 2**64, 3000, np.uint64),
    "equal": np.full(50, 7, np.uint64),
    "few": RNG.integers(0, 3, 2000).astype(np.uint64),
    "extremes": np.array([0, 2**64 - 1, 0, 2**63, 2**63 - 1, 2**64 - 1], np.uint64),
    "close together, far from zero": np.uint64(2**63) + RNG.integers(0, 5000, 4000).astype(np.uint64),
    "one": np.array([2**64 - 1], np.uint64),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_nth_smallest_is_that_of_a_sorted_list(name):
    values = VALUES[name]
    for nth in {1, 2, values.size // 3, values.size - 1, values.size} - {0}:
        if nth <= values.size:
            assert nth_smallest(values.copy(), values.size, nth) == np.sort(values)[nth - 1]


@pytest.mark.parametrize("name", VALUES)
def test_sorting_is_stable_and_takes_items_along(name):
    values, items = VALUES[name].copy(), np.arange(VALUES[name].size)
    sort_by(values, items, values.size, np.empty_like(values), np.empty_like(items))
    np.testing.assert_array_equal(items, np.argsort(VALUES[name], kind="stable"))
    np.testing.assert_array_equal(values, np.sort(VALUES[name]))


def test_integers_keep_their_order_without_a_sign():
    numbers = np.array([-(2**63), -5, -1, 0, 1, 2**63 - 1])
    bits = [int(ordered_bits(np.int64(number))) for number in numbers]
    assert bits == sorted(bits) and len(set(bits)) == len(bits)
