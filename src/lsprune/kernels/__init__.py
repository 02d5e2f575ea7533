"""Kernels: `reference` is the definition in plain Python; `cpu` (numba) and `gpu` (torch, Triton) give the same bits.

`executors` is the one place that dispatches to one of them.
"""

from __future__ import annotations

from lsprune.kernels.executors import (
    BLOCK_ROWS,
    BLOCK_VALUES,
    EXECUTORS,
    Rows,
    Runtime,
    check_row,
    not_finite,
    runtime,
)
from lsprune.kernels.masked_arrays import compress, compress_csr
from lsprune.kernels.plain_arrays import plain

__all__ = [
    "BLOCK_ROWS", "BLOCK_VALUES", "EXECUTORS", "Rows", "Runtime", "check_row", "compress", "compress_csr",
    "not_finite", "plain", "runtime",
]  # fmt: skip
