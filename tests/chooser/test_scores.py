"""A paired gain is the mean difference and its standard error."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune.chooser.scores import paired_gain


def test_pairs_matter_and_their_order_does_not():
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    second = first + rng.normal(0.1, 0.01, 300)
    mean, error = paired_gain(second, first)
    assert mean == pytest.approx((second - first).mean()) and error < 0.001  # much less than the spread of the values
    order = rng.permutation(300)
    assert paired_gain(second[order], first[order]) == pytest.approx((mean, error))
    assert paired_gain(second, first[::-1])[1] > 0.05
