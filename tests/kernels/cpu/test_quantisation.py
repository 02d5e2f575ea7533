from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lsprune.kernels import cpu, reference

FEW = settings(max_examples=25, deadline=None, derandomize=True)
rows = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 6), st.integers(1, 40)),
    elements=st.floats(-(2.0**127), 2.0**127, width=32) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-130, 2.0**-115]),
)


@given(x=rows, unit=st.booleans(), exponent=st.integers(6, 20))
@FEW
def test_rows_become_the_same_integers(x, unit, exponent):
    centre = np.arange(x.shape[1], dtype=np.int32) * 3
    ours, theirs = np.zeros(x.shape, np.int16), np.zeros(x.shape, np.int16)
    assert cpu.quanta(x, unit, exponent, centre, ours) == reference.quanta(x, unit, exponent, centre, theirs) == -1
    np.testing.assert_array_equal(ours, theirs)


@given(x=rows)
@FEW
def test_statistics_are_the_same(x):
    for function in ("sums", "spread"):
        results = []
        for module in (cpu, reference):
            sums, histogram = np.zeros(x.shape[1], np.int64), np.zeros(64, np.int64)
            if function == "sums":
                assert module.unit_sums(x, sums) == -1
            else:
                module.unit_spread(x, np.full(x.shape[1], 7), histogram, sums)
            results.append((sums.tolist(), histogram.tolist(), module.raw_top(x)))
        assert results[0] == results[1]


@pytest.mark.parametrize("where", [0, 3])
def test_rows_that_are_not_finite_are_found(where):
    x = np.ones((4, 3), np.float32)
    x[where, 2] = np.nan
    centre = np.zeros(3, np.int32)
    for module in (cpu, reference):
        assert module.quanta(x, True, 7, centre, np.zeros((4, 3), np.int16)) == where
        assert module.quanta(x, False, 7, centre, np.zeros((4, 3), np.int16)) == where
        assert module.unit_sums(x, np.zeros(3, np.int64)) == where
        assert module.raw_top(x) >= 255 << 23
