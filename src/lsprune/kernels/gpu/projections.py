"""Dot products of quantised attribute rows with the weights of the hash functions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lsprune.graph import Array
from lsprune.kernels.gpu.constants import constant
from lsprune.kernels.gpu.quantisation import first_bad_row, quanta, row_chunks
from lsprune.kernels.gpu.triton_support import triton_kernels

MAX_FUSED_COLUMNS = 1 << 16  # for which sums of int8 products fit int32


def project(x: Tensor, unit: bool, exponent: int, centre: Array, weights: Array, width: int) -> tuple[Tensor, Tensor]:
    """Return <integers of the row, weights[z]> for every row and z, and the first row that is not finite.

    The products are `[rows, width]`, int32 if rows are L2-normalised (`unit`), else int64; columns beyond the number of
    weights are 0. The first bad row is a tensor on the device; it is the number of rows if all are finite.
    """
    small = np.abs(weights).max(initial=0) <= 127 and x.shape[1] <= MAX_FUSED_COLUMNS
    kernels = triton_kernels("projections_triton", x.device) if unit and small and x.numel() else None
    if kernels is not None:
        table, bad = kernels.project(x, exponent, centre, weights, width)
        return table, bad
    out = torch.zeros((x.shape[0], width), dtype=torch.int32 if unit else torch.int64, device=x.device)
    middle, factors = constant(centre.astype(np.int32), x.device), constant(weights.astype(np.float64), x.device)
    for lo, hi in row_chunks(*x.shape):
        rows = quanta(x[lo:hi].float(), unit, exponent, middle)
        out[lo:hi, : weights.shape[0]] = (rows.double() @ factors.T).to(out.dtype)  # exact: sums are below 2^53
    return out, first_bad_row(x)
