"""What an exact share asks of the owners on a device: how many have each degree, and in which order they come."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.splitmix import mix64, signed
from lsprune.kernels.gpu.triton_support import triton_kernels

LARGE_DEGREE = 511  # owners of so many edges, or more, are counted together
LAST = torch.iinfo(torch.int64).max


def counted_degree(indptr: Tensor, loops: Tensor | None) -> Tensor:
    """Return the degree of each owner without its self-loops, where those do not count (`loops`, `[owners]`)."""
    return indptr.diff() if loops is None else indptr.diff() - loops


def degree_counts(indptr: Tensor, loops: Tensor | None = None) -> Tensor:
    """Count the owners of each degree, with those of LARGE_DEGREE or more together; the last number is that of edges.

    The result is `[LARGE_DEGREE + 2]` int64. Self-loops in `loops` are left out.
    """
    kernels = triton_kernels("owner_budget_triton", indptr.device)
    if kernels is not None and indptr.shape[0] > 1:
        counts: Tensor = kernels.degree_counts(indptr, loops)
        return counts
    degree = counted_degree(indptr, loops)
    together = torch.bincount(degree.clamp(max=LARGE_DEGREE), minlength=LARGE_DEGREE + 1)
    return torch.cat([together, degree.sum()[None]])


def hash_order(indptr: Tensor, loops: Tensor | None, level: int, start: int, ids: Tensor | None) -> Tensor:
    """Return a number for each owner, `[owners]` int64, by which those of more than `level` edges come first.

    They come in the order of splitmix64(start ^ id); all others have the largest number.

    Args:
        loops: self-loops of each owner that do not count. start: int64 with the bits of a uint64.
        ids: of the owners; None: their positions.
    """
    owners = indptr.shape[0] - 1
    kernels = triton_kernels("owner_budget_triton", indptr.device)
    if kernels is not None and owners:
        order: Tensor = kernels.hash_order(indptr, loops, level, start, ids)
        return order
    numbers = torch.arange(owners, device=indptr.device) if ids is None else ids
    return torch.where(counted_degree(indptr, loops) > level, mix64(numbers ^ start) ^ signed(1 << 63), LAST)
