"""The Triton kernels find the words of the definition: on a device, or as Triton's interpreter runs them elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu import listed_words as kernel


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("high", [1, 127])
@pytest.mark.parametrize(("sizes", "count"), [([1], 1), ([3, 1, 140], 70), ([40, 1, 7, 300, 2], 65), ([2] * 256, 3)])
def test_words_are_those_of_the_definition(sizes, count, high):
    rng, dim = np.random.default_rng(count), 5 if count > 3 else 128
    start = np.append(0, np.cumsum(sizes))
    coarse, words, rows = (
        rng.integers(-high, high + 1, (n, dim)).astype(np.int16) for n in (len(sizes), start[-1], count)
    )
    radius = rng.choice([0, 1, 9, 2**40], start[-1])
    expected = np.full(count, -1, np.int32)
    reference.list_searcher(coarse, words, start, radius, 4)(rows, expected)
    search = kernel.searcher(coarse, words, start, radius, 4, DEVICE)
    assert search.fused is not None
    found = search.nearest(torch.from_numpy(rows.astype(np.int8)).to(DEVICE))
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


@runs
def test_keys_and_sums_of_the_largest_rows_are_exact():
    low, high = np.full((1, 128), -128, np.int16), np.full((1, 128), 127, np.int16)
    words, start, rows = np.concatenate([high, low, low, high]), np.array([0, 2, 4]), np.concatenate([low, high])
    search = kernel.searcher(rows, words, start, np.zeros(4, np.int64), 2, DEVICE)
    found = search.nearest(torch.from_numpy(rows.astype(np.int8)).to(DEVICE))
    assert found.tolist() == [1, 3]  # of two equal words the one whose list comes first
