"""From slots that were taken to a mask over edges, and the positions of what a mask keeps."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.triton_support import triton_kernels


def scatter_taken(taken: Tensor, edge: Tensor, mask: Tensor) -> None:
    """Set mask[edge[slot]] to whether the slot is taken."""
    kernels = triton_kernels("masking_triton", taken.device)
    if kernels is not None and taken.numel():
        kernels.scatter_taken(taken, edge, mask)
    else:
        mask[edge.long()] = taken.bool()


def kept_positions(mask: Tensor, count: int) -> Tensor:
    """Return where the mask is True, ascending, int64; `count` is how often it is."""
    kernels = triton_kernels("masking_triton", mask.device)
    if kernels is not None and mask.numel():
        positions: Tensor = kernels.kept_positions(mask, count)
        return positions
    return torch.nonzero_static(mask, size=count)[:, 0]


def prefix_sums(mask: Tensor) -> Tensor:
    """Return how often the mask is True up to each place, that one included; int32 where that is enough."""
    kernels = triton_kernels("masking_triton", mask.device)
    if kernels is not None and mask.numel():
        prefix: Tensor = kernels.prefix_sums(mask)
        return prefix
    return torch.cumsum(mask, 0, dtype=torch.int32 if mask.shape[0] < 2**31 else torch.int64)


def kept_before(prefix: Tensor, places: Tensor) -> Tensor:
    """Return how many entries are kept before each of these places `[n]`, as a tensor like `places`."""
    kernels = triton_kernels("masking_triton", prefix.device)
    if kernels is not None and places.numel() and places.is_contiguous():
        before: Tensor = kernels.kept_before(prefix, places)
        return before
    if not prefix.shape[0]:
        return torch.zeros_like(places)
    return torch.where(places > 0, prefix[(places - 1).clamp(min=0)], 0).to(places.dtype)


def compact(values: Tensor, mask: Tensor, prefix: Tensor, kept: int) -> Tensor:
    """Return the entries along the last dimension where the mask is True; `prefix` counts them up to each place."""
    kernels = triton_kernels("masking_triton", values.device)
    if kernels is None or not values.is_contiguous() or values.element_size() > 8 or not values.numel():
        return values[..., mask]
    result: Tensor = kernels.compact(values, mask, prefix, kept)
    return result
