"""Attributes held item by item."""

from __future__ import annotations

import numpy as np
import pytest

from lsprune import GraphError
from lsprune.adapters.numeric_attribute import numeric_attribute


def test_numbers_become_an_array_and_anything_else_nothing():
    assert numeric_attribute([1, 2, 3], "w").tolist() == [1, 2, 3]
    assert numeric_attribute([np.ones(2), np.zeros(2)], "x").shape == (2, 2)
    for values in ([], [1.0, None], ["a", "b"], [{}, {}]):
        assert numeric_attribute(values, "w") is None


def test_rows_of_different_lengths_are_named():
    with pytest.raises(GraphError, match="attribute 'x' must have the same shape everywhere"):
        numeric_attribute([[1.0], [1.0, 2.0]], "x")
