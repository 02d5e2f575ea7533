from __future__ import annotations

from lsprune.kernels.reference.ties import BY_HASH, BY_ID, BY_POSITION, tie_order
from lsprune.selection.choose import TIES


def test_rules_stand_in_the_order_of_the_option():
    assert (TIES[BY_HASH], TIES[BY_ID], TIES[BY_POSITION]) == ("hash", "id", "position")


def test_position_looks_at_nothing_else():
    assert (
        tie_order(BY_POSITION, 1, 2, 30, 4) == tie_order(BY_POSITION, 5, 6, 7, 4) < tie_order(BY_POSITION, 1, 2, 3, 5)
    )


def test_id_comes_before_position():
    assert tie_order(BY_ID, 0, 1, 3, 9) < tie_order(BY_ID, 0, 1, 4, 0) < tie_order(BY_ID, 7, 2, 4, 1)


def test_hash_depends_on_seed_step_and_neighbour_and_then_goes_by_position():
    first = [
        tie_order(BY_HASH, seed, step, neighbour, 0)[0] for seed in (0, 1) for step in (1, 2) for neighbour in (5, 6)
    ]
    assert len(set(first)) == 8
    assert tie_order(BY_HASH, 0, 1, 5, 2) < tie_order(BY_HASH, 0, 1, 5, 3)
