from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import cpu, reference
from lsprune.kernels.cpu import masking

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(st.integers(0, 3000), st.integers(1, 4), st.integers(0, 2**31))
@FEW
def test_compress_is_indexing(size, count, seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(size) < rng.random()
    arrays = (rng.integers(0, 100, size), rng.random(size).astype(np.float32))
    edges, masking.COMPRESS_EDGES = masking.COMPRESS_EDGES, 64
    try:
        results = tuple(np.empty(int(mask.sum()), array.dtype) for array in arrays)
        cpu.compress(mask, arrays, results, count)
    finally:
        masking.COMPRESS_EDGES = edges
    for ours, array in zip(results, arrays, strict=True):
        np.testing.assert_array_equal(ours, array[mask])
        assert ours.dtype == array.dtype


def test_rows_are_counted_and_slots_go_to_their_edges():
    indptr, flags = np.array([0, 2, 2, 5, 5]), np.array([1, 0, 1, 1, 0], np.uint8)
    edge, results = np.array([3, 0, 4, 1, 2]), []
    for module in (cpu, reference):
        counts, mask = np.zeros(5, np.int64), np.zeros(5, bool)
        for lo, hi in ((0, 1), (1, 4)):
            module.count_rows(indptr, flags, lo, hi, counts)
        module.scatter_taken(np.array([7, 0, 1, 0, 2], np.uint8), edge, 0, 5, mask)
        results.append((counts.tolist(), mask.tolist()))
    assert results[0] == results[1] == ([0, 1, 0, 2, 0], [False, False, True, True, True])
