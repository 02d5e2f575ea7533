"""Projections of attribute rows are those of the definition. `test_projections_triton` tests the fused kernel."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import projected, random_projection, rows_of_all_sizes, tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu import quantisation
from lsprune.kernels.gpu.projections import project


@pytest.mark.parametrize(("unit", "exponent"), [(True, 9), (True, 0), (False, -3), (False, -100), (False, 20)])
@pytest.mark.parametrize(
    ("columns", "functions", "width"), [(1, 3, 8), (37, 8, 8), (37, 13, 16), (300, 5, 5), (9, 40, 40)]
)
def test_products_are_those_of_the_definition(columns, functions, width, unit, exponent, device):
    x, (centre, weights) = rows_of_all_sizes(0, 25, columns), random_projection(1, columns, functions)
    table, bad = project(tensor(x, device), unit, exponent, centre, weights, width)
    assert int(bad) == 25 and table.dtype == (torch.int32 if unit else torch.int64)
    np.testing.assert_array_equal(table.cpu().numpy(), projected(x, unit, exponent, centre, weights, width))


def test_chunks_of_rows_change_nothing(device, monkeypatch):
    x, (centre, weights) = rows_of_all_sizes(0, 25, 7), random_projection(1, 7, 4)
    monkeypatch.setattr(quantisation, "CHUNK_VALUES", 20)
    table, _ = project(tensor(x, device), True, 9, centre, weights, 8)
    np.testing.assert_array_equal(table.cpu().numpy(), projected(x, True, 9, centre, weights, 8))


def test_sums_beyond_int32_are_exact(device):
    x, centre = np.full((2, 5000), 1e30, np.float32), np.zeros(5000, np.int32)
    x[1] *= -1
    weights = np.full((1, 5000), 32767, np.int16)
    table, _ = project(tensor(x, device), False, 0, centre, weights, 1)
    assert table[:, 0].tolist() == [5000 * 32767**2, -5000 * 32767**2]


def test_weights_that_no_byte_holds_are_used_as_they_are(device):
    x, (centre, weights) = rows_of_all_sizes(0, 12, 20), random_projection(1, 20, 3)
    weights[0, :5] = 300
    table, _ = project(tensor(x, device), True, 9, centre, weights, 8)
    np.testing.assert_array_equal(table.cpu().numpy(), projected(x, True, 9, centre, weights, 8))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
@pytest.mark.parametrize("unit", [True, False])
def test_other_numbers_count_as_float32(dtype, unit, device):
    values = tensor(np.random.default_rng(0).standard_normal((20, 6)) * 30, device).to(dtype)
    centre, weights = random_projection(1, 6, 4)
    table, bad = project(values, unit, 5, centre, weights, 8)
    expected = projected(values.float().cpu().numpy(), unit, 5, centre, weights, 8)
    assert int(bad) == 20
    np.testing.assert_array_equal(table.cpu().numpy(), expected)


def test_rows_may_lie_apart_in_memory(device):
    x, (centre, weights) = rows_of_all_sizes(0, 25, 8), random_projection(1, 8, 4)
    expected = projected(x, True, 9, centre, weights, 8)
    wide = tensor(np.concatenate([x, x], 1), device)[:, 4:12]  # columns 4..7, 0..3
    swapped = projected(np.roll(x, 4, 1), True, 9, centre, weights, 8)
    np.testing.assert_array_equal(project(wide, True, 9, centre, weights, 8)[0].cpu().numpy(), swapped)
    across = tensor(x.T, device).t()
    np.testing.assert_array_equal(project(across, True, 9, centre, weights, 8)[0].cpu().numpy(), expected)


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(unit, value, device):
    x, (centre, weights) = np.ones((20, 5), np.float32), random_projection(1, 5, 4)
    x[7, 4] = x[13, 0] = value
    table, bad = project(tensor(x, device), unit, 5, centre, weights, 8)
    assert int(bad) == 7 == reference.project(x, unit, 5, centre, weights, np.zeros((20, 8)))
    np.testing.assert_array_equal(table[:7].cpu().numpy(), projected(x[:7], unit, 5, centre, weights, 8))


@pytest.mark.parametrize("shape", [(0, 3), (4, 0)])
@pytest.mark.parametrize("unit", [True, False])
def test_no_rows_and_no_columns(shape, unit, device):
    table, bad = project(torch.zeros(shape, device=device), unit, 5, *random_projection(1, shape[1], 3), 8)
    assert table.tolist() == np.zeros((shape[0], 8)).tolist() and int(bad) == shape[0]
