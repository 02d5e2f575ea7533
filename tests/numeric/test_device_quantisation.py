"""Scales of tensors on a device: the integers that the host finds."""

from __future__ import annotations

import numpy as np
import pytest
from device_helpers import HOST, device_run, torch

from lsprune import GraphError
from lsprune.attributes import DenseRows, Part
from lsprune.kernels.gpu import quantisation as kernels
from lsprune.numeric import device_quantisation, quantisation
from lsprune.numeric.quantisation import fit_scales

ROWS = {
    "normal": lambda rng: rng.standard_normal((300, 7)),
    "long tails": lambda rng: rng.standard_normal((500, 5)) ** 7,
    "far from zero": lambda rng: rng.standard_normal((200, 3)) + 1e6,
    "tiny": lambda rng: rng.standard_normal((50, 4)) * 1e-35,
    "huge": lambda rng: rng.standard_normal((50, 4)) * 1e37,
    "zeros": lambda rng: np.zeros((20, 3)),
    "one row": lambda rng: rng.standard_normal((1, 3)),
    "no rows": lambda rng: np.zeros((0, 3)),
    "whole numbers": lambda rng: rng.integers(0, 9, (90, 4)),
    "true and false": lambda rng: rng.integers(0, 2, (90, 4)).astype(bool),
    "half": lambda rng: rng.standard_normal((90, 4)).astype(np.float16),
    "one column": lambda rng: rng.standard_normal((300, 1)),
    "one column with long tails": lambda rng: rng.standard_normal((301, 1)) ** 9,
    "one column, far from zero": lambda rng: rng.standard_normal((301, 1)) * 1e-3 + 7e5,
    "one column of one row": lambda rng: rng.standard_normal((1, 1)),
    "one column without rows": lambda rng: np.zeros((0, 1)),
}


def fitted(values, name: str, *, unit: bool):
    run = device_run() if isinstance(values, torch.Tensor) else HOST
    return fit_scales({"neighbour": Part(DenseRows(name, values))}, unit=unit, runtime=run)["neighbour"]


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("name", ["x", "edge_attr"])
@pytest.mark.parametrize("rows", ROWS)
def test_scales_are_those_of_the_host(rows, name, unit):
    values = ROWS[rows](np.random.default_rng(0))
    if values.dtype == np.float64:
        values = values.astype(np.float32)
    assert fitted(torch.from_numpy(values), name, unit=unit) == fitted(values, name, unit=unit)
    doubles = values.astype(np.float64)
    assert fitted(torch.from_numpy(doubles), name, unit=unit) == fitted(doubles, name, unit=unit)


@pytest.mark.parametrize("columns", [1, 4])
def test_samples_and_chunks_change_nothing(columns, monkeypatch):
    values = (np.random.default_rng(0).standard_normal((1000, columns)) ** 3).astype(np.float32)
    monkeypatch.setattr(quantisation, "SAMPLE_ROWS", 64)
    expected = fitted(values, "x", unit=True)
    for chunk in (30, 1 << 24):
        monkeypatch.setattr(kernels, "CHUNK_VALUES", chunk)
        assert fitted(torch.from_numpy(values), "x", unit=True) == expected
    assert fitted(values, "edge_attr", unit=True) != expected  # the sample matters: edges are never sampled


@pytest.mark.parametrize("kind", ["unit", "raw", "column"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(kind, bad):
    values = torch.ones(40, 1 if kind == "column" else 3)
    values[[17, 30], -1] = bad
    fit = getattr(device_quantisation, f"fit_{kind}")
    with pytest.raises(GraphError, match=f"^edge_attr must be finite in float32, got {bad} in row 17$"):
        fit(DenseRows("edge_attr", values))


def test_numbers_beyond_float32_are_not_finite():
    values = torch.ones(4, 2, dtype=torch.float64)
    values[2, 0] = 1e300
    with pytest.raises(GraphError, match="x must be finite in float32, got inf in row 2"):
        device_quantisation.fit_unit(DenseRows("x", values))
