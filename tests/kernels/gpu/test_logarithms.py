"""Logarithms are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import log2_defined, tensor, torch, words

from lsprune.kernels.gpu import logarithms
from lsprune.kernels.gpu.logarithms import log2_fixed


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
