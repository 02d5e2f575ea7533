"""Statistics of L2-normalised rows in three Triton kernels: a factor for each row, sums over columns, and spread."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

MAX_COLUMNS = 256  # of a row that stays in registers; wider rows are read several times, from cache
PROGRAMS = 1056  # that share out the rows of a column block, at most: eight for each multiprocessor of a large device
_VALUES = 4096  # entries that a program reads at a time, about
_BIT_LENGTHS = 32  # bins of a histogram; entries away from their centre have at most 18 bits, the last bin is not used


@triton.jit
def factor_of_rows(squares, power, exponent):
    """Return what the entries of a row are multiplied by: 2^(exponent + 8) / L2 norm, rounded once.

    Args:
        power: of the largest |entry|, as a power of two. squares: of the entries in units of 2^(power - 14), added up.
    """
    raised = (1023 + 22 - power + exponent).to(tl.int64) << 52  # 2^(14 - power + exponent + 8)
    return ((1.0 / tl.sqrt(squares.to(tl.float64))) * raised.to(tl.float64, bitcast=True)).to(tl.float32)


@triton.jit
def scaled_squares(values, power):
    """Return the sum of the squares of each row's entries, cut to integers in units of 2^(power - 14)."""
    scale = ((141 - power) << 23).to(tl.float32, bitcast=True)  # 2^(14 - power)
    whole = (values * scale[:, None]).to(tl.int32)
    return tl.sum((whole * whole).to(tl.int64), axis=1)


@triton.jit(do_not_specialize=["rows", "columns", "exponent"])
def _factor_kernel(
    x, stride, rows, columns, exponent, factors, bad, ROWS: tl.constexpr, SIZE: tl.constexpr, BLOCKS: tl.constexpr
):
    """Write down the factor of each row, 0 for one that counts as zero; and how far from the end a bad row is."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    valid = row < rows
    at = x + row.to(tl.int64)[:, None] * stride
    top = tl.zeros((ROWS,), tl.int32)
    for block in range(BLOCKS):
        column = block * SIZE + tl.arange(0, SIZE)
        inside = valid[:, None] & (column < columns)[None, :]
        part = tl.load(at + column[None, :], mask=inside, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.max(part.to(tl.int32, bitcast=True) & 0x7FFFFFFF, axis=1))
    left = tl.max(tl.where(valid & (top >= 0x7F800000), rows - row, 0), axis=0)
    if left > 0:
        tl.atomic_max(bad, left.to(tl.int64))
    power = tl.maximum((top >> 23) - 127, -96)
    squares = tl.zeros((ROWS,), tl.int64)
    for block in range(BLOCKS):
        column = block * SIZE + tl.arange(0, SIZE)
        inside = valid[:, None] & (column < columns)[None, :]
        part = tl.load(at + column[None, :], mask=inside, other=0.0).to(tl.float32)
        squares += scaled_squares(part, power)
    tiny = (top >> 23) - 127 < -96
    factor = tl.where(tiny, 0.0, factor_of_rows(squares, power, exponent))
    tl.store(factors + row, factor, mask=valid)


@triton.jit(do_not_specialize=["rows", "columns", "share"])
def _sum_kernel(x, stride, rows, columns, share, factors, sums, ROWS: tl.constexpr, SIZE: tl.constexpr):
    """Add up the scaled entries of a share of the rows, for a block of columns."""
    column = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    start = tl.program_id(0) * share
    stop = tl.minimum(start + share, rows)
    total = tl.zeros((SIZE,), tl.int64)
    while start < stop:  # the interpreter has no range over tensors
        row = start + tl.arange(0, ROWS)
        inside = (row < stop)[:, None] & (column < columns)[None, :]
        part = tl.load(x + row.to(tl.int64)[:, None] * stride + column[None, :], mask=inside, other=0.0).to(tl.float32)
        factor = tl.load(factors + row, mask=row < stop, other=0.0)
        total += tl.sum((part * factor[:, None]).to(tl.int32), axis=0)  # below 2^31: |entries| are at most 2^16
        start += ROWS
    tl.atomic_add(sums + column, total, mask=column < columns)


@triton.jit(do_not_specialize=["rows", "columns", "share", "sample"])
def _spread_kernel(
    x, stride, rows, columns, share, factors, sums, squares, counts, sample,
    ROWS: tl.constexpr, SIZE: tl.constexpr, BINS: tl.constexpr,
):  # fmt: skip
    """Add up the squares of |scaled entry - mean| by column, and count their bit lengths, for a share of the sample."""
    column = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    count = tl.zeros((SIZE,), tl.int64) + rows
    doubled = 2 * tl.load(sums + column, mask=column < columns, other=0) + count
    mean = doubled // (2 * count)
    mean = tl.where(mean * (2 * count) > doubled, mean - 1, mean)  # rounded down, where // rounds towards zero
    middle = mean.to(tl.int32)
    place = tl.program_id(0) * share
    stop = tl.minimum(place + share, sample)
    total = tl.zeros((SIZE,), tl.int64)
    found = tl.zeros((BINS,), tl.int32)
    while place < stop:  # the interpreter has no range over tensors
        which = place + tl.arange(0, ROWS)
        valid = which < stop
        row = which.to(tl.int64) * rows // sample
        inside = valid[:, None] & (column < columns)[None, :]
        part = tl.load(x + row[:, None] * stride + column[None, :], mask=inside, other=0.0).to(tl.float32)
        factor = tl.load(factors + row, mask=valid, other=0.0)
        away = tl.abs((part * factor[:, None]).to(tl.int32) - middle[None, :])
        away = tl.where(inside, away, 0)
        total += tl.sum(away.to(tl.int64) * away, axis=0)
        length = (away.to(tl.float32).to(tl.int32, bitcast=True) >> 23) - 126  # exact: away is below 2^24
        length = tl.minimum(tl.maximum(length, 0), BINS - 1)  # entries that are not finite may be anything
        length = tl.where(inside, length, BINS - 1)
        found += tl.histogram(tl.reshape(length, [ROWS * SIZE]), BINS)
        place += ROWS
    tl.atomic_add(squares + column, total, mask=column < columns)
    bins = tl.arange(0, BINS)
    tl.atomic_add(counts + bins, found.to(tl.int64), mask=bins < BINS - 1)


def unit_statistics(x: Tensor, exponent: int, sample: int) -> Tensor:
    """Return what `kernels.gpu.quantisation.unit_statistics` returns; the exponent is that of its units."""
    x = x if x.stride(1) == 1 else x.contiguous()
    rows, columns = x.shape
    numbers = torch.zeros(2 * columns + 65, dtype=torch.int64, device=x.device)  # one launch for all
    squares, counts, bad = numbers[columns:], numbers[2 * columns :], numbers[2 * columns + 64 :]
    factors, table = torch.empty(rows, dtype=torch.float32, device=x.device), (x, x.stride(0), rows, columns)
    grid, share, tile, size = _shares(rows, columns)
    launch(_factor_kernel, (-(-rows // tile),), (*table, exponent, factors, bad), (tile, size, grid[1]))
    launch(_sum_kernel, grid, (*table, share, factors, numbers), (tile, size))
    grid, share, tile, size = _shares(sample, columns)
    sums_and_counts = (numbers, squares, counts, sample)
    launch(_spread_kernel, grid, (*table, share, factors, *sums_and_counts), (tile, size, _BIT_LENGTHS))
    return numbers


def _shares(rows: int, columns: int) -> tuple[tuple[int, int], int, int, int]:
    """Return the grid, the rows of each program's share, and the rows and columns that it reads at a time."""
    size = min(max(1 << (columns - 1).bit_length(), 32), MAX_COLUMNS)
    blocks, tile = -(-columns // size), max(min(_VALUES // size, 64), 16)
    programs = max(PROGRAMS // blocks, 1)
    share = -(-rows // (tile * programs)) * tile
    return (-(-rows // share), blocks), share, tile, size
