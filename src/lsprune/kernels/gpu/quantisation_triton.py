"""Sums over L2-normalised rows in two Triton kernels: a factor for each row, then the sums of the columns."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.launch_triton import launch

MAX_COLUMNS = 256  # of a row that stays in registers; wider rows are read several times, from cache
PROGRAMS = 1056  # that share out the rows of a column block, at most: eight for each multiprocessor of a large device
_VALUES = 4096  # entries that a program reads at a time, about


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


def unit_sums(x: Tensor, exponent: int) -> tuple[Tensor, Tensor]:
    """Return what `kernels.gpu.quantisation.unit_sums` returns; the exponent is that of its units."""
    if x.stride(1) != 1:
        x = x.contiguous()
    rows, columns = x.shape
    size = min(max(1 << (columns - 1).bit_length(), 32), MAX_COLUMNS)
    blocks, tile = -(-columns // size), max(min(_VALUES // size, 64), 16)
    factors = torch.empty(rows, dtype=torch.float32, device=x.device)
    counts = torch.zeros(columns + 1, dtype=torch.int64, device=x.device)
    sums, bad = counts[:columns], counts[columns:]
    arguments = (x, x.stride(0), rows, columns, exponent, factors, bad)
    launch(_factor_kernel, (-(-rows // tile),), arguments, (tile, size, blocks))
    share = -(-rows // (tile * PROGRAMS)) * tile
    launch(
        _sum_kernel, (-(-rows // share), blocks), (x, x.stride(0), rows, columns, share, factors, sums), (tile, size)
    )
    return sums, rows - bad[0]
