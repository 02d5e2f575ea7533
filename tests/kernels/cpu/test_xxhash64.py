from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import cpu, reference
from lsprune.numeric.xxhash64 import FIRST_LANES

WORDS = st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 4), max_size=5)


@given(WORDS)
@settings(max_examples=25, deadline=None, derandomize=True)
def test_lanes_are_those_of_the_reference(rows):
    words, both = np.array(rows, np.uint64).reshape(-1), []
    for module in (cpu, reference):
        lanes = np.array(FIRST_LANES, np.uint64)
        module.xxhash64_stripes(words, lanes)
        both.append(lanes.tolist())
    assert both[0] == both[1]
