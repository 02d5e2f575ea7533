from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


@pytest.mark.parametrize("values", [[-1, 0, 1], [-128, -127, 0, 127], range(-127, 128)], ids=len)
@pytest.mark.parametrize(("lists", "dim"), [(1, 1), (5, 3), (16, 40), (256, 128)])
def test_the_words_are_those_of_the_definition(lists, dim, values):
    rng = np.random.default_rng(lists)
    sizes = rng.integers(1, 40 if lists < 100 else 4, lists)
    start = np.append(0, np.cumsum(sizes))
    coarse, words, rows = (rng.choice(np.array(values, np.int16), (n, dim)) for n in (lists, start[-1], 25))
    rows[:5] = words[rng.integers(0, start[-1], 5)]
    for most in (1, 3, lists):
        for radius in (0, dim, 5000 * dim):
            results = [np.full(25, -1, np.int32) for _ in range(2)]
            for module, out in zip((cpu, reference), results, strict=True):
                module.list_searcher(coarse, words, start, np.full(start[-1], radius), most)(rows, out)
            np.testing.assert_array_equal(*results)
    distances = [np.full(start[-1], -1) for _ in range(2)]
    for module, out in zip((cpu, reference), distances, strict=True):
        module.nearest_others(words, start, out)
    np.testing.assert_array_equal(*distances)


def test_keys_of_the_largest_rows_fit_int32():
    low, high = np.full((1, 128), -128, np.int16), np.full((1, 128), 127, np.int16)
    coarse = np.concatenate([np.tile(high, (255, 1)), low])
    for row, word in ((low, 255), (high, 0)):
        out = np.zeros(1, np.int32)
        cpu.list_searcher(coarse, coarse, np.arange(257), np.zeros(256, np.int64), 1)(row, out)
        assert out[0] == word
