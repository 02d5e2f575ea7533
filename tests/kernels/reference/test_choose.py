from __future__ import annotations

import numpy as np

from lsprune.kernels import reference
from lsprune.kernels.reference.choose import choose

KEYS = {(1, 0): 5, (1, 1): 2, (1, 2): 3, (2, 0): 9, (2, 1): 1, (2, 2): 4}  # (step, slot)


def test_each_step_takes_the_smallest_key_of_those_left():
    assert choose([0, 1, 2], lambda step, slot: KEYS[step, slot], 2) == {1: 1, 2: 2}


def test_with_replacement_a_winner_may_win_again():
    assert choose([0, 1, 2], lambda step, slot: KEYS[step, slot], 2, replace=True) == {1: 1}


def test_steps_beyond_the_last_slot_take_nothing():
    assert choose([4], lambda step, slot: 0, 3) == {4: 1}
    assert choose([], lambda step, slot: 0, 3) == {}


def test_an_owner_whose_quota_covers_its_degree_needs_no_keys():
    taken = np.zeros(3, np.uint8)
    indptr, quota, table = np.array([0, 3]), np.array([3]), np.zeros((0, 8), np.int32)
    reference.choose_nodes(0, 1, indptr, np.array([5, 6, 7]), table, 0, 3, quota, np.empty(0), 0, 0, False, taken)
    assert taken.tolist() == [1, 1, 1]


def test_ties_count_ids_from_the_base_of_the_owner():
    keys, quota = np.zeros((2, 1), np.int64), np.array([1])
    for base in (0, 100):
        for ids in ([3, 8], [8, 3]):
            taken = np.zeros(2, np.uint8)
            reference.choose_steps(0, 1, np.array([0, 2]), np.array(ids) + base, keys, 0, quota, np.array([base]), 0, 4,
                                   False, taken)  # fmt: skip
            winner = ids[int(taken.argmax())]
            assert winner == min(ids, key=lambda i: reference.tie_order(0, 4, 1, i, 0))
