from __future__ import annotations

import numpy as np

from lsprune.kernels import cpu, reference


def test_executors_agree_on_bits():
    rng = np.random.default_rng(1)
    here = rng.integers(0, 2**63, (9, 3)).astype(np.uint64)
    indptr, neighbour = np.array([0, 2, 2, 3, 5, 5, 5, 6, 8, 9]), rng.integers(0, 9, 9)
    results = []
    for executor in (cpu, reference):
        there, changed, sizes = np.zeros_like(here), np.zeros(1, np.uint8), np.zeros(9, np.int64)
        executor.spread_bits(indptr, neighbour, here, there, changed, 0, 9)
        executor.count_bits(there, 0, 9, sizes)
        results.append((there.tolist(), changed.tolist(), sizes.tolist()))
    assert results[0] == results[1]
