"""Unbiased factors on a real GPU: to the bit those of the host."""

from __future__ import annotations

import pytest
from gpu_device import DEVICE

# isort: split
from device_factors import PRUNERS, agree


@pytest.mark.parametrize("pruner", PRUNERS, ids=repr)
def test_factors_are_those_of_the_host(pruner):
    assert any(isinstance(result, list) for result in agree(pruner, DEVICE))
