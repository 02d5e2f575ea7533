"""Normalise, quantise and project attribute rows in one Triton kernel that reads each row from memory once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.graph import Array
from lsprune.kernels.gpu.constants import constant
from lsprune.kernels.gpu.launch_triton import launch
from lsprune.kernels.gpu.quantisation_triton import MAX_COLUMNS, factor_of_rows, scaled_squares

_VALUES = 4096  # entries of one program, about


@triton.jit
def _quantise(x, factor, centre, tiny):
    fine = tl.where(tiny[:, None], 0.0, x * factor[:, None]).to(tl.int32)
    q = (fine - centre[None, :] + 128) >> 8
    return tl.minimum(tl.maximum(q, -127), 127).to(tl.int8)


@triton.jit(do_not_specialize=["rows", "columns", "exponent"])
def _project_kernel(
    x, stride, rows, columns, centre, weights, out, bad, exponent,
    ROWS: tl.constexpr, SIZE: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, SIZE)
    valid = row < rows
    at = x + row.to(tl.int64)[:, None] * stride
    inside = valid[:, None] & (column < columns)[None, :]
    values = tl.load(at + column[None, :], mask=inside, other=0.0).to(tl.float32)
    top = tl.max(values.to(tl.int32, bitcast=True) & 0x7FFFFFFF, axis=1)
    for block in range(1, BLOCKS):
        more = block * SIZE + column
        there = valid[:, None] & (more < columns)[None, :]
        part = tl.load(at + more[None, :], mask=there, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.max(part.to(tl.int32, bitcast=True) & 0x7FFFFFFF, axis=1))
    first = tl.min(tl.where(top >= 0x7F800000, row, 2147483647), axis=0)
    if first < 2147483647:
        tl.atomic_min(bad, first.to(tl.int64))
    power = (top >> 23) - 127
    tiny = power < -96
    power = tl.maximum(power, -96)
    squares = scaled_squares(values, power)
    for block in range(1, BLOCKS):
        more = block * SIZE + column
        there = valid[:, None] & (more < columns)[None, :]
        part = tl.load(at + more[None, :], mask=there, other=0.0).to(tl.float32)
        squares += scaled_squares(part, power)
    factor = factor_of_rows(squares, power, exponent)
    function = tl.arange(0, 16)
    middle = tl.load(centre + column, mask=column < columns, other=0)
    q = _quantise(values, factor, middle, tiny)
    # weights are [columns, 16] int8, with zeros below the last column
    sums = tl.dot(q, tl.load(weights + column[:, None] * 16 + function[None, :]), out_dtype=tl.int32)
    for block in range(1, BLOCKS):
        more = block * SIZE + column
        there = valid[:, None] & (more < columns)[None, :]
        part = tl.load(at + more[None, :], mask=there, other=0.0).to(tl.float32)
        middle = tl.load(centre + more, mask=more < columns, other=0)
        q = _quantise(part, factor, middle, tiny)
        sums += tl.dot(q, tl.load(weights + more[:, None] * 16 + function[None, :]), out_dtype=tl.int32)
    places = out + row.to(tl.int64)[:, None] * WIDTH + function[None, :]
    tl.store(places, sums, mask=valid[:, None] & (function < WIDTH)[None, :])


def project(x: Tensor, exponent: int, centre: Array, weights: Array, width: int) -> tuple[Tensor, Tensor]:
    """Return what `kernels.gpu.projections.project` returns for L2-normalised rows; weights are in +-127."""
    if x.stride(1) != 1:
        x = x.contiguous()
    rows, columns = x.shape
    size = min(max(1 << (columns - 1).bit_length(), 32), MAX_COLUMNS)
    blocks = -(-columns // size)
    middle = constant(centre.astype(np.int32), x.device)
    bad = torch.full((), rows, dtype=torch.int64, device=x.device)
    tables = []
    per_program = max(min(_VALUES // size, 64), 16)
    for first in range(0, max(width, 1), 16):
        part = weights[first : first + 16]
        factors = _factors(part.tobytes(), part.dtype.str, part.shape, blocks * size)
        wide = min(width - first, 16)
        table = torch.empty((rows, wide), dtype=torch.int32, device=x.device)
        arguments = (x, x.stride(0), rows, columns, middle, constant(factors, x.device), table, bad, exponent)
        launch(_project_kernel, (-(-rows // per_program),), arguments, (per_program, size, blocks, wide))
        tables.append(table)
    return tables[0] if len(tables) == 1 else torch.cat(tables, 1), bad


@lru_cache(maxsize=64)
def _factors(data: bytes, dtype: str, shape: tuple[int, int], rows: int) -> Array:
    """Return up to 16 functions' weights as the kernel reads them: a row for each column of x, rows of zeros below."""
    factors = np.zeros((rows, 16), np.int8)
    factors[: shape[1], : shape[0]] = np.frombuffer(data, dtype).reshape(shape).T
    return factors
