"""Unbiased factors on a device: to the bit those of the host, and refused where those are."""

from __future__ import annotations

import pytest
from device_factors import PRUNERS, agree

from lsprune import LocalRandom


@pytest.mark.parametrize("pruner", PRUNERS, ids=repr)
def test_factors_are_those_of_the_host(pruner):
    results = agree(pruner, "cpu")
    assert {type(result) for result in results} == {str, list} or pruner == LocalRandom(k=0)
    assert pruner.k == 0 or any(isinstance(result, list) and max(result, default=0) > 1 for result in results)
