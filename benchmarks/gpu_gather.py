"""Read the keys of every neighbour and do nothing with them: the floor of selection, for benchmarks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lsprune.kernels.gpu.choose_triton import _load4

BLOCK = 256  # neighbours of one program


@triton.jit(do_not_specialize=["count"])
def _read_kernel(table, neighbour, count, out, STRIDE: tl.constexpr, VECTOR: tl.constexpr, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    row = tl.load(neighbour + at, mask=at < count, other=0).to(tl.int64)
    if VECTOR:
        k0, k1, k2, k3 = _load4(table + row * STRIDE)
        k4, k5, k6, k7 = _load4(table + row * STRIDE + 4)
        mixed = k0 ^ k1 ^ k2 ^ k3 ^ k4 ^ k5 ^ k6 ^ k7
    else:
        mixed = tl.load(table + row * STRIDE)
        for column in tl.static_range(1, STRIDE):
            mixed = mixed ^ tl.load(table + row * STRIDE + column)
    tl.store(out + at, mixed.to(tl.uint8), mask=at < count)


def read_rows(table: Tensor, neighbour: Tensor) -> Tensor:
    """Return one byte for each neighbour that depends on all its keys, so that all must be read."""
    out = torch.empty(neighbour.shape[0], dtype=torch.uint8, device=table.device)
    vector = table.is_cuda and table.dtype == torch.int32 and table.shape[1] == 8
    _read_kernel[(triton.cdiv(neighbour.shape[0], BLOCK),)](
        table, neighbour, neighbour.shape[0], out, table.shape[1], vector, BLOCK
    )
    return out
