"""Attention over neighbours in two Triton kernels: nothing as large as edges times columns is ever written.

A GATConv of PyG gathers a row for every edge, weighs it, writes it and adds it up by atomic additions. Here a program
reads the rows of one node's neighbours, which small graphs keep in cache, and holds the weighted sum in registers; in
the backward pass weights are computed again from one number a node and head.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _forward(
    values, source_score, target_score, starts, sources, out, level, slope,
    heads: tl.constexpr, width: tl.constexpr, all_heads: tl.constexpr, all_width: tl.constexpr,
):  # fmt: skip
    """out[i] = the neighbours' values weighted by softmax and added; level[i] = log of the sum of exponentials."""
    i = tl.program_id(0).to(tl.int64)
    head, column = tl.arange(0, all_heads), tl.arange(0, all_width)
    real = head < heads
    inside = real[:, None] & (column < width)[None, :]
    place = head[:, None] * width + column[None, :]
    target = tl.load(target_score + i * heads + head, mask=real, other=0.0)
    top = tl.full([all_heads], float("-inf"), tl.float32)
    total = tl.zeros([all_heads], tl.float32)
    held = tl.zeros([all_heads, all_width], tl.float32)
    for e in range(tl.load(starts + i), tl.load(starts + i + 1)):
        j = tl.load(sources + e)
        score = tl.load(source_score + j * heads + head, mask=real, other=0.0) + target
        score = tl.where(score > 0, score, score * slope)
        higher = tl.maximum(top, score)
        shrink, weight = tl.exp(top - higher), tl.exp(score - higher)
        row = tl.load(values + j * heads * width + place, mask=inside, other=0.0)
        held = held * shrink[:, None] + weight[:, None] * row
        total = total * shrink + weight
        top = higher
    some = tl.where(total > 0, total, 1.0)
    tl.store(out + i * heads * width + place, held / some[:, None], mask=inside)
    tl.store(level + i * heads + head, top + tl.log(some), mask=real)


@triton.jit
def _backward(
    values, source_score, target_score, starts, targets, level, gradient, dots, d_values, d_source, d_target, slope,
    heads: tl.constexpr, width: tl.constexpr, all_heads: tl.constexpr, all_width: tl.constexpr,
):  # fmt: skip
    """What reaches node j from the nodes that it is a neighbour of."""
    j = tl.program_id(0).to(tl.int64)
    head, column = tl.arange(0, all_heads), tl.arange(0, all_width)
    real = head < heads
    inside = real[:, None] & (column < width)[None, :]
    place = head[:, None] * width + column[None, :]
    own = tl.load(values + j * heads * width + place, mask=inside, other=0.0)
    source = tl.load(source_score + j * heads + head, mask=real, other=0.0)
    d_own = tl.zeros([all_heads, all_width], tl.float32)
    d_score = tl.zeros([all_heads], tl.float32)
    for e in range(tl.load(starts + j), tl.load(starts + j + 1)):
        i = tl.load(targets + e)
        raw = source + tl.load(target_score + i * heads + head, mask=real, other=0.0)
        score = tl.where(raw > 0, raw, raw * slope)
        weight = tl.exp(score - tl.load(level + i * heads + head, mask=real, other=float("inf")))
        row = tl.load(gradient + i * heads * width + place, mask=inside, other=0.0)
        d_own += weight[:, None] * row
        change = weight * (tl.sum(row * own, axis=1) - tl.load(dots + i * heads + head, mask=real, other=0.0))
        change = tl.where(raw > 0, change, change * slope)
        d_score += change
        tl.atomic_add(d_target + i * heads + head, change, mask=real)
    tl.store(d_values + j * heads * width + place, d_own, mask=inside)
    tl.store(d_source + j * heads + head, d_score, mask=real)


def _power(number: int) -> int:
    return 1 << (number - 1).bit_length()


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, values: Tensor, source: Tensor, target: Tensor, links: Any, slope: float) -> Tensor:
        nodes, heads, width = values.shape
        values, source, target = values.contiguous(), source.contiguous(), target.contiguous()
        out, level = torch.empty_like(values), torch.empty_like(source)
        sizes = (heads, width, _power(heads), _power(width))
        _forward[(nodes,)](values, source, target, links.starts, links.sources, out, level, slope, *sizes)
        context.save_for_backward(values, source, target, out, level)
        context.links, context.slope, context.sizes = links, slope, sizes
        return out

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, source, target, out, level = context.saved_tensors
        links, gradient = context.links, gradient.contiguous()
        dots = (gradient * out).sum(-1)
        d_values, d_source, d_target = torch.empty_like(values), torch.empty_like(source), torch.zeros_like(target)
        _backward[(values.shape[0],)](
            values, source, target, links.back_starts, links.targets, level, gradient, dots, d_values, d_source,
            d_target, context.slope, *context.sizes,
        )  # fmt: skip
        return d_values, d_source, d_target, None, None


def attend(values: Tensor, source: Tensor, target: Tensor, links: Any, slope: float) -> Tensor:
    """`[N, H, C]`: the values of each node's neighbours, weighted by a softmax of LeakyReLU(source_j + target_i).

    Args:
        values: `[N, H, C]`. source, target: `[N, H]` what a node adds to the score as neighbour and as owner.
    """
    out: Tensor = _Attend.apply(values, source, target, links, slope)
    return out
