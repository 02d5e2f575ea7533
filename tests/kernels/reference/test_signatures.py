from __future__ import annotations

import numpy as np

from lsprune.kernels import reference


def test_bits_above_their_threshold_add_their_codes():
    x, out = np.array([[1.0, -1.0, 0.5]], np.float32), np.zeros((1, 2), np.uint64)
    entry, threshold = np.array([[0, 1, 2], [0, 1, 2]]), np.array([[0, 0, 8], [15, -17, 7]])
    code = np.array([[1, 2, 4], [2**63, 2**63, 8]], np.uint64)
    assert reference.signature(x, False, 4, np.zeros(3, np.int32), entry, threshold, code, out) == -1
    assert out.tolist() == [[1, 8]]  # 16 > 0 alone; 16 > 15, -16 > -17 and 8 > 7, modulo 2^64
