from __future__ import annotations

import math

import numpy as np

from lsprune.kernels import reference


def test_logarithms_are_those_of_the_numbers():
    values = np.array([1, 2, 3, 1000, 2**63, 2**64 - 1], np.uint64)
    out = np.zeros(6, np.int64)
    reference.log2_fixed(values, 0, 6, out)
    assert out[[0, 1, 4]].tolist() == [0, 1 << 32, 63 << 32]
    for value, result in zip(values.tolist(), out.tolist(), strict=True):
        assert abs(result / 2**32 - math.log2(value)) < 1e-8
