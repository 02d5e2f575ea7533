"""Which nodes have an edge before pruning and none after."""

from __future__ import annotations

import torch
from torch import Tensor

from lsprune.kernels.gpu.triton_support import triton_kernels


def count_isolated(indptr: Tensor, neighbour: Tensor, taken: Tensor) -> Tensor:
    """Count the nodes that own no edge, are a neighbour in some slot, and in none that is taken; int64 on the device.

    Every owner of an edge must keep one. No node may own self-loops and nothing else.
    """
    owns = indptr[1:] > indptr[:-1]
    kernels = triton_kernels("isolated_nodes_triton", indptr.device)
    if kernels is not None and taken.numel():
        count: Tensor = kernels.count_isolated(owns, neighbour, taken)
        return count
    had, has = torch.zeros_like(owns), torch.zeros_like(owns)
    had[neighbour.long()] = True
    has[neighbour[taken.bool()].long()] = True
    return (had & ~has & ~owns).sum()


def count_isolated_ends(source: Tensor, target: Tensor, mask: Tensor, nodes: int) -> Tensor:
    """Count the nodes with an edge to another node, and with none of those that the mask keeps; int64 on the device."""
    kernels = triton_kernels("isolated_nodes_triton", mask.device)
    if kernels is not None and mask.numel():
        count: Tensor = kernels.count_isolated_ends(source, target, mask, nodes)
        return count
    real = source != target
    had, has = (_ends_marked(source, target, which, nodes) for which in (real, real & mask))
    return (had & ~has).sum()


def _ends_marked(source: Tensor, target: Tensor, which: Tensor, nodes: int) -> Tensor:
    marks = torch.zeros(nodes + 1, dtype=torch.bool, device=source.device)
    for ends in (source, target):
        marks[torch.where(which, ends.long(), nodes)] = True
    return marks[:nodes]
