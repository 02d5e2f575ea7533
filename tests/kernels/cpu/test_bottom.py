from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


@pytest.mark.parametrize("ties", [0, 1, 2])
@pytest.mark.parametrize("kept", [3, 128, 129, 400, 539])
@pytest.mark.parametrize("ranked", [False, True])
def test_hubs_take_the_smallest_of_one_function_as_the_definition_says(ties, kept, ranked):
    # Few distinct keys and neighbours, some slots taken before: every level of the order has to decide something.
    rng = np.random.default_rng(kept)
    indptr, neighbour = np.array([0, 600, 620]), rng.integers(50, 110, 620)
    keys, before = rng.integers(-4, 4, (620, 1)), np.zeros(620, np.uint8)
    before[rng.choice(600, 60, replace=False)] = 1
    before[600:] = 1  # an owner that keeps all it has, since the first step
    bases, quota = np.array([50, 50]), np.array([60 + kept, 60 + kept])
    results = []
    for module in (cpu, reference):
        taken, ranks = before.copy(), before.astype(np.int32)
        module.choose_bottom(0, 2, indptr, neighbour, keys, 60, quota, bases, ties, np.uint64(5), ranked, taken, ranks)
        results.append((taken != 0, ranks))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)
