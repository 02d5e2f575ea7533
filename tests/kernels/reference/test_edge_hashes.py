from __future__ import annotations

import numpy as np

from lsprune.kernels import reference
from lsprune.numeric.random_numbers import draw


def test_hashes_are_draws_of_the_generator():
    out, none = np.zeros(2, np.uint64), np.empty(0, np.int64)
    reference.hash_ends(reference.mix(7), np.array([3, 4]), np.array([5, 6]), none, none, 0, 2, out)
    assert out.tolist() == draw(7, [3, 4], [5, 6]).tolist()


def test_balance_sees_an_edge_without_its_reverse():
    source, target = np.array([0, 1, 1]), np.array([1, 0, 2])
    assert reference.reverse_balance(source, target, 0, 2) == 0 != reference.reverse_balance(source, target, 0, 3)
