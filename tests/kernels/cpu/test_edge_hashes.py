from __future__ import annotations

import numpy as np

from lsprune.kernels import cpu, reference


def test_ends_are_hashed_within_their_graph():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 10, (2, 50))
    base = np.repeat([0, 4], [4, 6])
    for bases in (np.empty(0, np.int64), base):
        results = [np.zeros(50, np.uint64) for _ in range(2)]
        for module, out in zip((cpu, reference), results, strict=True):
            for lo, hi in ((0, 20), (20, 50)):
                module.hash_ends(np.uint64(3), first, second, bases, bases, lo, hi, out)
        np.testing.assert_array_equal(*results)
    shifted = np.zeros(1, np.uint64)
    local = np.zeros(1, np.uint64)
    cpu.hash_ends(np.uint64(3), np.array([5]), np.array([7]), base, base, 0, 1, shifted)
    cpu.hash_ends(np.uint64(3), np.array([1]), np.array([3]), base[:0], base[:0], 0, 1, local)
    assert shifted == local


def test_balance_is_zero_where_every_edge_has_its_reverse():
    ends = np.random.default_rng(0).integers(0, 9, (2, 40))
    both = np.concatenate([ends, ends[::-1]], axis=1)
    for module in (cpu, reference):
        assert int(module.reverse_balance(*both, 0, 80)) == 0
        parts = int(module.reverse_balance(*both, 0, 33)) + int(module.reverse_balance(*both, 33, 80))
        assert parts % 2**64 == 0
    assert int(cpu.reverse_balance(*ends, 0, 40)) == reference.reverse_balance(*ends, 0, 40) != 0
