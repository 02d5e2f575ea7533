from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import log2_defined, tensor, words
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.logarithms_triton import BLOCK, log2_fixed


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("count", [1, BLOCK + 1])
def test_logarithms_are_those_of_the_definition(count):
    values = words(count, count)
    assert log2_fixed(tensor(values, DEVICE)).tolist() == log2_defined(values).tolist()
    powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
    assert log2_fixed(tensor(powers, DEVICE)).tolist() == [bit << 32 for bit in range(64)]


@runs
def test_any_shape_is_kept():
    values = words(1, 30)[:30].reshape(5, 6)
    expected = log2_defined(values.ravel()).reshape(5, 6)
    np.testing.assert_array_equal(log2_fixed(tensor(values, DEVICE).t()).cpu().numpy(), expected.T)
