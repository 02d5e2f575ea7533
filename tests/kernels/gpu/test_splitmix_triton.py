from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import bits, tensor, words
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.splitmix_triton import BLOCK, mix_values
from lsprune.numeric.random_numbers import mix64


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


@runs
@pytest.mark.parametrize("count", [1, BLOCK - 13, BLOCK + 1])
def test_words_are_mixed_as_on_the_host(count):
    values = words(count, count)
    np.testing.assert_array_equal(bits(mix_values(tensor(values, DEVICE))), mix64(values))


@runs
def test_any_shape_is_kept():
    values = words(0, 3)[:12].reshape(3, 4)
    np.testing.assert_array_equal(bits(mix_values(tensor(values, DEVICE).t())), mix64(values.T))
    np.testing.assert_array_equal(bits(mix_values(tensor(values, DEVICE)[:, ::2])), mix64(values[:, ::2]))
    assert int(mix_values(tensor(values, DEVICE)[0, 0])) == mix64(values).view(np.int64)[0, 0]
