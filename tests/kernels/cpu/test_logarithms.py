from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import cpu, reference

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(values=st.lists(st.integers(1, 2**64 - 1) | st.integers(0, 100), max_size=20))
@FEW
def test_logarithms_are_the_same(values):
    numbers, results = np.array(values, np.uint64), []
    for module in (cpu, reference):
        out = np.full(len(values), -1)
        module.log2_fixed(numbers, len(values) // 3, len(values), out)
        results.append(out.tolist())
    assert results[0] == results[1]
