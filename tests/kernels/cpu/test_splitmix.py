from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lsprune.kernels import reference
from lsprune.kernels.cpu.splitmix import mix
from lsprune.numeric.random_numbers import mix64

FEW = settings(max_examples=25, deadline=None, derandomize=True)


@given(st.integers(0, 2**64 - 1))
@FEW
def test_splitmix_is_the_same_everywhere(value):
    plain = reference.mix(value)
    assert int(mix64(np.array(value, np.uint64))) == plain
    assert int(mix(np.uint64(value))) == plain
