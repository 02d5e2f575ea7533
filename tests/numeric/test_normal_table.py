from __future__ import annotations

from statistics import NormalDist

import numpy as np

from lsprune.numeric.normal_table import UNIT, normal, table
from lsprune.numeric.random_numbers import draw


def test_stored_normals_are_the_quantiles():
    expected = [round(NormalDist().inv_cdf((i + 0.5) / 4096) * UNIT) for i in range(4096)]
    assert table().tolist() == expected


def test_draws_are_standard_normal():
    draws = normal(draw(3, np.arange(200_000))) / UNIT
    assert abs(draws.mean()) < 0.01
    assert abs(draws.std() - 1) < 0.01
