from __future__ import annotations

import numpy as np

from lsprune.kernels import compress, compress_csr


def test_compress_of_a_large_array_is_indexing():
    mask = np.random.default_rng(0).random(1 << 19) < 0.5
    numbers = np.arange(1 << 19)
    numbers.flags.writeable = False
    np.testing.assert_array_equal(compress(mask, numbers), np.flatnonzero(mask))
    both = np.stack([numbers, numbers[::-1]], axis=1).T  # not in C order
    np.testing.assert_array_equal(compress(mask, both, threads=3), both[:, mask])


def test_compress_csr():
    assert compress_csr(np.array([0, 2, 2, 5]), np.array([1, 0, 1, 1, 0], bool)).tolist() == [0, 1, 1, 3]
