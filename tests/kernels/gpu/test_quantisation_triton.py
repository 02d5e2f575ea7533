"""Statistics of normalised rows are those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import rows_of_all_sizes, statistics_of_unit_rows, tensor, torch
from gpu_triton import DEVICE, elsewhere, run_interpreted, runs

from lsprune.kernels.gpu import quantisation_triton as kernels

# Rows of zeros are divided by zero and then put aside: numpy, which the interpreter uses, warns.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@elsewhere
def test_in_the_interpreter():
    assert run_interpreted(__file__) == 0


def check(x: np.ndarray, given: torch.Tensor) -> None:
    for sample in {1, len(x) // 3, len(x) - 1, len(x)}:
        found = kernels.unit_statistics(given, 8, sample)
        np.testing.assert_array_equal(found.cpu().numpy(), statistics_of_unit_rows(x, sample))


@runs
@pytest.mark.parametrize("columns", [1, 5, 32, 33, kernels.MAX_COLUMNS, kernels.MAX_COLUMNS + 1])
def test_rows_of_all_sizes_and_widths(columns):
    x = rows_of_all_sizes(columns, 37, columns)
    check(x, tensor(x, DEVICE))


@runs
@pytest.mark.parametrize("programs", [1, 3])
def test_a_program_reads_many_rows(programs, monkeypatch):
    monkeypatch.setattr(kernels, "PROGRAMS", programs)
    x = rows_of_all_sizes(3, 700, 6)
    check(x, tensor(x, DEVICE))


@runs
def test_rows_may_lie_apart_in_memory():
    x = rows_of_all_sizes(9, 40, 7)
    check(x, tensor(np.ascontiguousarray(x.T), DEVICE).t())
    wide = torch.zeros((40, 50), device=DEVICE)
    wide[:, :7] = tensor(x, DEVICE)
    check(x, wide[:, :7])


@runs
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_the_first_bad_row_is_found(value):
    x = torch.ones((90, 3), device=DEVICE)
    x[[80, 33, 34], [0, 2, 1]] = value
    assert int(kernels.unit_statistics(x, 8, 90)[-1]) == 90 - 33
