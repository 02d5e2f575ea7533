"""The fused kernel projects rows as the definition does."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import projected, random_projection, rows_of_all_sizes, tensor, torch
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu.projections_triton import MAX_COLUMNS, project

# Rows of zeros are divided by zero and then put aside: numpy, which the interpreter uses, warns.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


def check(x: np.ndarray, columns: int, functions: int, width: int, exponent: int = 9) -> None:
    centre, weights = random_projection(columns, columns, functions)
    table, bad = project(tensor(x, DEVICE), exponent, centre, weights, width)
    assert int(bad) == len(x) and table.dtype == torch.int32
    np.testing.assert_array_equal(table.cpu().numpy(), projected(x, True, exponent, centre, weights, width))


@runs
@pytest.mark.parametrize("exponent", [-3, 0, 9, 16])
def test_numbers_of_all_sizes_are_projected_exactly(exponent):
    check(rows_of_all_sizes(exponent + 3, 70, 20), 20, 8, 8, exponent)


@runs
@pytest.mark.parametrize("columns", [1, 32, 33, MAX_COLUMNS, MAX_COLUMNS + 1, 2 * MAX_COLUMNS + 40])
def test_wide_rows_are_projected_exactly(columns):
    check(rows_of_all_sizes(columns, 17, columns), columns, 3, 8)


@runs
@pytest.mark.parametrize(
    ("functions", "width"), [(0, 8), (5, 5), (13, 16), (16, 16), (17, 17), (40, 40), (3, 20), (16, 40)]
)
def test_any_number_of_functions_and_of_columns_that_stay_zero(functions, width):
    check(rows_of_all_sizes(2, 10, 7), 7, functions, width)


@runs
def test_the_largest_sums_fit_int32():
    columns = 2 * MAX_COLUMNS
    x, weights = np.ones((2, columns), np.float32), np.full((1, columns), 127, np.int16)
    x[1] = -1
    table, _ = project(tensor(x, DEVICE), 16, np.zeros(columns, np.int32), weights, 1)
    assert table[:, 0].tolist() == [127 * 127 * columns, -127 * 127 * columns]


@runs
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_other_numbers_count_as_float32(dtype):
    values = tensor(np.random.default_rng(0).standard_normal((20, 6)) * 30, DEVICE).to(dtype)
    centre, weights = random_projection(1, 6, 4)
    table, bad = project(values, 5, centre, weights, 8)
    assert int(bad) == 20
    expected = projected(values.float().cpu().numpy(), True, 5, centre, weights, 8)
    np.testing.assert_array_equal(table.cpu().numpy(), expected)


@runs
def test_rows_may_lie_apart_in_memory():
    x, (centre, weights) = rows_of_all_sizes(0, 25, 8), random_projection(1, 8, 4)
    wide, across = tensor(np.concatenate([x, x], 1), DEVICE)[:, :8], tensor(x.T, DEVICE).t()
    expected = projected(x, True, 9, centre, weights, 8)
    for rows in (wide, across):
        np.testing.assert_array_equal(project(rows, 9, centre, weights, 8)[0].cpu().numpy(), expected)


@runs
@pytest.mark.parametrize("columns", [5, MAX_COLUMNS + 5])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(columns, value):
    x, (centre, weights) = np.ones((100, columns), np.float32), random_projection(1, columns, 4)
    x[70, -1] = x[90, 0] = value
    table, bad = project(tensor(x, DEVICE), 5, centre, weights, 8)
    assert int(bad) == 70
    np.testing.assert_array_equal(table[:70].cpu().numpy(), projected(x[:70], True, 5, centre, weights, 8))


@runs
def test_numbers_too_large_for_float32_are_not_finite():
    x = torch.ones((4, 2), dtype=torch.float64, device=DEVICE)
    x[2, 1] = 1e39
    assert int(project(x, 5, *random_projection(1, 2, 4), 8)[1]) == 2
