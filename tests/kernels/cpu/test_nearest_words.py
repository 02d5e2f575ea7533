from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


@pytest.mark.parametrize(("rows", "count", "dim"), [(1, 1, 1), (8, 16, 2), (13, 17, 5), (30, 100, 31), (5, 3, 128)])
def test_the_nearest_word_is_that_of_the_definition(rows, count, dim):
    rng = np.random.default_rng(count)
    words = rng.integers(-3, 4, (count, dim)).astype(np.int16)  # close together, so that many are equally near
    x = rng.integers(-128, 128, (rows, dim)).astype(np.int16)
    results = [np.zeros(rows, np.int32), np.zeros(rows, np.int32)]
    for module, out in zip((cpu, reference), results, strict=True):
        module.searcher(words)(x, out)
    np.testing.assert_array_equal(*results)


def test_leaders_are_those_of_the_definition():
    rows = np.random.default_rng(0).integers(-5, 6, (60, 3)).astype(np.int16)
    for distance in (0, 10, 60):
        results = [np.zeros(60, bool), np.zeros(60, bool)]
        for module, out in zip((cpu, reference), results, strict=True):
            module.leaders(rows, distance, out)
        np.testing.assert_array_equal(*results)
        assert results[0][0] and results[0].sum() > 1
