from __future__ import annotations

import numpy as np
import pytest

from lsprune.numeric.distinct import distinct


@pytest.mark.parametrize("values", [[], [5], [2, 2, 2], [9, -1, 4, 9, 4, 0]])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64])
def test_values_are_those_of_numpy(values, dtype):
    array = np.array(values).astype(dtype)
    expected = np.unique(array)
    result = distinct(array)
    assert result.dtype == dtype and result.tolist() == expected.tolist()
