from __future__ import annotations

import numpy as np
import pytest

from lsprune.numeric.random_numbers import GOLDEN, below, draw, mix64


def test_splitmix_is_the_published_generator():
    # The first outputs of the generator seeded with 1234567, as its author's C code prints them.
    states = (1234567 + np.arange(3, dtype=np.uint64) * np.uint64(GOLDEN)).astype(np.uint64)
    assert mix64(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_a_draw_depends_on_its_own_counters_alone():
    whole = draw(5, 2, np.arange(10)[:, None], np.arange(4)[None, :])
    assert int(draw(5, 2, 7, 3)) == whole[7, 3]
    assert np.unique(whole).size == 40
    assert (draw(6, 2, np.arange(10)) != draw(5, 2, np.arange(10))).all()
    assert int(draw(5 + 2**64, 1)) == int(draw(5, 1)) != int(draw(-5, 1))


@pytest.mark.parametrize("bound", [1, 3, 1000, 2**32])
def test_bounded_draws_are_in_range_and_even(bound):
    values = below(draw(0, np.arange(30_000)), bound)
    assert values.min() >= 0 and values.max() < bound
    assert abs(values.mean() / bound - 0.5 + 0.5 / bound) < 0.01
