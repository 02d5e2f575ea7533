"""Logarithms and the keys that are made of them are those of the host."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import code_keys_of_the_host, log2_defined, tensor, torch, words

from lsprune.kernels import runtime
from lsprune.kernels.gpu import logarithms
from lsprune.kernels.gpu.logarithms import code_keys, log2_fixed, log_times
from lsprune.numeric import weighted_sampling


def test_logarithms_are_those_of_the_definition(device):
    values = words(0, 200)
    assert log2_fixed(tensor(values, device)).tolist() == log2_defined(values).tolist()
    powers = np.uint64(1) << np.arange(64, dtype=np.uint64)
    assert log2_fixed(tensor(powers, device)).tolist() == [bit << 32 for bit in range(64)]
    assert log2_fixed(torch.tensor([0], device=device)).tolist() == [-(2**32)]


@pytest.mark.parametrize("size", [1, 7, 1 << 22])
def test_chunks_and_shapes_change_nothing(size, device, monkeypatch):
    monkeypatch.setattr(logarithms, "CHUNK_VALUES", size)
    values = words(1, 30)[:30].reshape(5, 6)
    expected = log2_defined(values.ravel()).reshape(5, 6)
    np.testing.assert_array_equal(log2_fixed(tensor(values, device)).cpu().numpy(), expected)
    np.testing.assert_array_equal(log2_fixed(tensor(values, device).t()).cpu().numpy(), expected.T)
    assert log2_fixed(tensor(values[:0], device)).shape == (0, 6)


def test_times_are_those_of_the_host(device):
    draws = words(2, 100)
    expected = weighted_sampling.log_times(draws, np.zeros(1, np.int64), runtime(1))
    assert log_times(tensor(draws, device)).tolist() == expected.tolist()


@pytest.mark.parametrize("log_keys", [False, True])
@pytest.mark.parametrize("count", [1, 3, 16])
def test_keys_of_codes_are_those_of_the_host(log_keys, count, device):
    starts = words(3, 16)[:count]
    for codes in (words(4, 20)[:, None], words(5, 20 * count)[: 20 * count].reshape(20, count)):
        found = code_keys(tensor(codes, device), tensor(starts, device), log_keys=log_keys)
        assert found.dtype == torch.int32
        np.testing.assert_array_equal(found.cpu().numpy(), code_keys_of_the_host(codes, starts, log_keys))
    none = code_keys(tensor(words(4, 0)[:0, None], device), tensor(starts, device), log_keys=log_keys)
    assert none.shape == (0, count)
