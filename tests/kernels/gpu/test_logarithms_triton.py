from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import code_keys_of_the_host, log2_defined, tensor, torch, words
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.logarithms_triton import BLOCK, code_keys, log2_fixed


@elsewhere
def test_in_the_interpreter():
    run_interpreted(__file__)


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


@runs
@pytest.mark.parametrize("log_keys", [False, True])
@pytest.mark.parametrize("count", [1, 3, 16])
def test_keys_of_codes_are_those_of_the_host(log_keys, count):
    starts = words(3, 16)[:count]
    for codes in (words(4, 80)[:, None], words(5, 80 * count)[: 80 * count].reshape(80, count)):
        found = code_keys(tensor(codes, DEVICE), tensor(starts, DEVICE), log_keys=log_keys)
        assert found.dtype == torch.int32
        np.testing.assert_array_equal(found.cpu().numpy(), code_keys_of_the_host(codes, starts, log_keys))
