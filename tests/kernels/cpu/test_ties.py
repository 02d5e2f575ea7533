from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels.cpu.ties import tied_before
from lsprune.kernels.reference.ties import BY_HASH, BY_ID, BY_POSITION, tie_order


@pytest.mark.parametrize("ties", [BY_HASH, BY_ID, BY_POSITION])
def test_two_edges_are_ordered_as_the_definition_sorts_them(ties):
    rng = np.random.default_rng(ties)
    for seed, step in ((0, 1), (2**64 - 1, 7)):
        for ids, slots in zip(rng.integers(0, 4, (60, 2)), rng.integers(0, 1000, (60, 2)), strict=True):
            before = tied_before(ties, np.uint64(seed), step, *ids, *slots)
            first, second = (tie_order(ties, seed, step, int(i), int(s)) for i, s in zip(ids, slots, strict=True))
            assert before == (first < second)
