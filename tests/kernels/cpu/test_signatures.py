from __future__ import annotations

import numpy as np
import pytest

from lsprune.kernels import cpu, reference


@pytest.mark.parametrize("unit", [True, False])
def test_codes_of_set_bits_add_up_modulo_2_to_the_64(unit):
    rng = np.random.default_rng(0)
    x, centre = rng.standard_normal((20, 7)).astype(np.float32), np.zeros(7, np.int32)
    entry, threshold = rng.integers(0, 7, (3, 5)), rng.integers(-40, 40, (3, 5))
    code = rng.integers(0, 2**63, (3, 5)).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    q = np.zeros(x.shape, np.int16)
    cpu.quanta(x, unit, 7, centre, q)
    expected = ((q[:, entry] > threshold) * code).sum(axis=2, dtype=np.uint64)
    for module in (cpu, reference):
        out = np.zeros((20, 3), np.uint64)
        assert module.signature(x, unit, 7, centre, entry, threshold, code, out) == -1
        np.testing.assert_array_equal(out, expected)
    x[4, 2] = np.inf
    for module in (cpu, reference):
        assert module.signature(x, unit, 7, centre, entry, threshold, code, out) == 4
