"""Attribute rows become the integers of the definition, whatever their size, and their statistics are the same."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_arrays import rows_of_all_sizes, statistics_of_unit_rows, tensor, torch

from lsprune.kernels import reference
from lsprune.kernels.gpu import quantisation as kernels
from lsprune.kernels.gpu.quantisation import (
    NOT_FINITE,
    bad_rows,
    bit_length_counts,
    first_bad_row,
    quanta,
    raw_top,
    row_chunks,
    unit_fine,
    unit_statistics,
)
from lsprune.kernels.reference.quantisation import unit_fine as defined_unit_fine

SHAPES = [(40, 1), (30, 7), (12, 300)]


@pytest.fixture(params=[1, 50, 1 << 24], ids=lambda size: f"chunks of {size}")
def chunk(request, monkeypatch):
    """Any number of values worked on at a time."""
    monkeypatch.setattr(kernels, "CHUNK_VALUES", request.param)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("exponent", [-3, 0, 8, 16])
def test_unit_rows_are_those_of_the_definition(shape, exponent, device):
    x = rows_of_all_sizes(0, *shape)
    expected = [defined_unit_fine(row, exponent) for row in x.tolist()]
    assert unit_fine(tensor(x, device), exponent).tolist() == expected


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("exponent", [-100, -3, 9])
def test_rows_become_the_same_integers(shape, unit, exponent, device):
    x, expected = rows_of_all_sizes(1, *shape), np.zeros(shape, np.int32)
    centre = np.random.default_rng(0).integers(-5000, 5000, shape[1]).astype(np.int32)
    reference.quanta(x, unit, exponent, centre, expected)
    found = quanta(tensor(x, device), unit, exponent, tensor(centre, device))
    assert found.dtype == torch.int32
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_halves_are_rounded_to_even_numbers(device):
    x = np.array([[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]], np.float32)
    centre = torch.zeros(6, dtype=torch.int32, device=device)
    assert quanta(tensor(x, device), False, 0, centre).tolist() == [[-2, -2, 0, 0, 2, 2]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sample", [1, 5, None], ids=lambda sample: f"sample of {sample}")
def test_statistics_are_the_same(shape, sample, device, chunk):
    x, sample = rows_of_all_sizes(2, *shape), sample or shape[0]
    found = unit_statistics(tensor(x, device), sample)
    np.testing.assert_array_equal(found.cpu().numpy(), statistics_of_unit_rows(x, sample))
    assert int(raw_top(tensor(x, device))) == reference.raw_top(x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_floats_count_as_float32(dtype, device):
    x = tensor(np.random.default_rng(3).standard_normal((9, 5)), device).to(dtype)
    assert unit_statistics(x, 9).tolist() == unit_statistics(x.float(), 9).tolist()
    assert int(raw_top(x)) == int(raw_top(x.float()))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [0, 3, 8])
def test_the_first_row_that_is_not_finite_is_named(bad, where, device, chunk):
    x = np.ones((9, 3), np.float32)
    assert int(first_bad_row(tensor(x, device))) == 9
    assert int(raw_top(tensor(x, device))) < NOT_FINITE and int(unit_statistics(tensor(x, device), 9)[-1]) == 0
    x[where, 2] = x[8, 0] = bad
    assert int(first_bad_row(tensor(x, device))) == where == reference.quanta(x, True, 7, np.zeros(3), np.zeros((9, 3)))
    assert int(raw_top(tensor(x, device))) >= NOT_FINITE
    assert int(unit_statistics(tensor(x, device), 9)[-1]) == 9 - where


def test_numbers_too_large_for_float32_are_not_finite(device):
    x = torch.ones((4, 2), dtype=torch.float64, device=device)
    x[2, 1] = 1e39
    assert int(first_bad_row(x)) == 2 and int(raw_top(x)) >= NOT_FINITE
    assert bad_rows(x).nonzero()[0].tolist() == [2]


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
def test_no_rows_and_no_columns(shape, device):
    x, centre = torch.zeros(shape, device=device), torch.zeros(shape[1], dtype=torch.int32, device=device)
    assert int(first_bad_row(x)) == shape[0] and int(raw_top(x)) == 0
    assert bad_rows(x).shape == shape[:1] and not bad_rows(x).any()
    assert tuple(unit_fine(x, 8).shape) == tuple(quanta(x, True, 8, centre).shape) == shape
    assert tuple(quanta(x, False, 8, centre).shape) == shape
    assert unit_statistics(x, shape[0]).tolist() == [0] * (2 * shape[1] + 65)


def test_bit_lengths_are_counted(device):
    values = np.array([0, 1, 2, 3, 4, 7, 8, 2**31 - 1, 2**31, 2**52, 2**53 - 1, 0])
    expected = np.bincount([int(value).bit_length() for value in values], minlength=64)
    np.testing.assert_array_equal(bit_length_counts(tensor(values, device)).cpu().numpy(), expected)


def test_chunks_cover_all_rows_once(chunk):
    for rows, columns in ((0, 3), (1, 1000), (7, 20), (7, 0)):
        ranges = list(row_chunks(rows, columns))
        assert [row for lo, hi in ranges for row in range(lo, hi)] == list(range(rows))
        assert all((hi - lo) * columns <= kernels.CHUNK_VALUES or hi - lo == 1 for lo, hi in ranges)
