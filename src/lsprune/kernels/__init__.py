"""Kernels: one definition in plain Python (`reference`), the same bits from numba (`cpu`) and torch (`gpu`)."""

from __future__ import annotations

from lsprune.kernels.executors import (
    BLOCK_VALUES,
    EXECUTORS,
    ROWS,
    SPAN,
    Rows,
    Runtime,
    check_row,
    compress,
    compress_csr,
    not_finite,
    plain,
    runtime,
)

__all__ = [
    "BLOCK_VALUES",
    "EXECUTORS",
    "ROWS",
    "SPAN",
    "Rows",
    "Runtime",
    "check_row",
    "compress",
    "compress_csr",
    "not_finite",
    "plain",
    "runtime",
]
