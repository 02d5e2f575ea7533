"""Attention over neighbours in two Triton kernels that never store an array of edges times columns.

PyG's GATConv writes a weighted row for every edge and sums them with atomic additions. Here one program reads the rows
of one node's neighbours, which small graphs keep in cache, and accumulates the weighted sum in registers. The backward
pass recomputes the attention weights from one stored number per node and head.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _forward(
    values, source_score, target_score, starts, sources, out, log_sum, slope,
    heads: tl.constexpr, width: tl.constexpr, padded_heads: tl.constexpr, padded_width: tl.constexpr,
):  # fmt: skip
    """out[i] = softmax-weighted sum of the neighbours' values; log_sum[i] = log of the sum of exponentials."""
    i = tl.program_id(0).to(tl.int64)
    head, column = tl.arange(0, padded_heads), tl.arange(0, padded_width)
    valid_head = head < heads
    valid = valid_head[:, None] & (column < width)[None, :]
    offset = head[:, None] * width + column[None, :]
    target = tl.load(target_score + i * heads + head, mask=valid_head, other=0.0)
    top = tl.full([padded_heads], float("-inf"), tl.float32)
    total = tl.zeros([padded_heads], tl.float32)
    accumulated = tl.zeros([padded_heads, padded_width], tl.float32)
    for e in range(tl.load(starts + i), tl.load(starts + i + 1)):
        j = tl.load(sources + e)
        score = tl.load(source_score + j * heads + head, mask=valid_head, other=0.0) + target
        score = tl.where(score > 0, score, score * slope)
        new_top = tl.maximum(top, score)
        rescale, weight = tl.exp(top - new_top), tl.exp(score - new_top)
        row = tl.load(values + j * heads * width + offset, mask=valid, other=0.0)
        accumulated = accumulated * rescale[:, None] + weight[:, None] * row
        total = total * rescale + weight
        top = new_top
    divisor = tl.where(total > 0, total, 1.0)
    tl.store(out + i * heads * width + offset, accumulated / divisor[:, None], mask=valid)
    tl.store(log_sum + i * heads + head, top + tl.log(divisor), mask=valid_head)


@triton.jit
def _backward(
    values, source_score, target_score, starts, targets, log_sum, gradient, dots, d_values, d_source, d_target, slope,
    heads: tl.constexpr, width: tl.constexpr, padded_heads: tl.constexpr, padded_width: tl.constexpr,
):  # fmt: skip
    """Gradients of node j's values and scores, summed over the edges from j.

    Each program writes d_values[j] and d_source[j] alone; several programs add to one d_target[i], hence atomic_add.
    """
    j = tl.program_id(0).to(tl.int64)
    head, column = tl.arange(0, padded_heads), tl.arange(0, padded_width)
    valid_head = head < heads
    valid = valid_head[:, None] & (column < width)[None, :]
    offset = head[:, None] * width + column[None, :]
    values_j = tl.load(values + j * heads * width + offset, mask=valid, other=0.0)
    source = tl.load(source_score + j * heads + head, mask=valid_head, other=0.0)
    d_values_j = tl.zeros([padded_heads, padded_width], tl.float32)
    d_score = tl.zeros([padded_heads], tl.float32)
    for e in range(tl.load(starts + j), tl.load(starts + j + 1)):
        i = tl.load(targets + e)
        raw = source + tl.load(target_score + i * heads + head, mask=valid_head, other=0.0)
        score = tl.where(raw > 0, raw, raw * slope)
        weight = tl.exp(score - tl.load(log_sum + i * heads + head, mask=valid_head, other=float("inf")))
        row = tl.load(gradient + i * heads * width + offset, mask=valid, other=0.0)
        d_values_j += weight[:, None] * row
        dot = tl.load(dots + i * heads + head, mask=valid_head, other=0.0)
        change = weight * (tl.sum(row * values_j, axis=1) - dot)
        change = tl.where(raw > 0, change, change * slope)
        d_score += change
        tl.atomic_add(d_target + i * heads + head, change, mask=valid_head)
    tl.store(d_values + j * heads * width + offset, d_values_j, mask=valid)
    tl.store(d_source + j * heads + head, d_score, mask=valid_head)


def _next_power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, values: Tensor, source: Tensor, target: Tensor, edges: Any, slope: float) -> Tensor:
        nodes, heads, width = values.shape
        values, source, target = values.contiguous(), source.contiguous(), target.contiguous()
        out, log_sum = torch.empty_like(values), torch.empty_like(source)
        sizes = (heads, width, _next_power_of_two(heads), _next_power_of_two(width))
        _forward[(nodes,)](values, source, target, edges.in_starts, edges.sources, out, log_sum, slope, *sizes)
        context.save_for_backward(values, source, target, out, log_sum)
        context.edges, context.slope, context.sizes = edges, slope, sizes
        return out

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, source, target, out, log_sum = context.saved_tensors
        edges, gradient = context.edges, gradient.contiguous()
        dots = (gradient * out).sum(-1)
        d_values, d_source, d_target = torch.empty_like(values), torch.empty_like(source), torch.zeros_like(target)
        _backward[(values.shape[0],)](
            values, source, target, edges.out_starts, edges.targets, log_sum, gradient, dots, d_values, d_source,
            d_target, context.slope, *context.sizes,
        )  # fmt: skip
        return d_values, d_source, d_target, None, None


def attend(values: Tensor, source_score: Tensor, target_score: Tensor, edges: Any, slope: float) -> Tensor:
    """Return `[N, H, C]`: the sum of each node's neighbours' values, weighted by the softmax of the scores.

    Args:
        values: `[N, H, C]`.
        source_score, target_score: `[N, H]`; the score of edge (j, i) is LeakyReLU(source_score[j] + target_score[i]).
        edges: the graph's `SortedEdges`.
        slope: of the LeakyReLU.
    """
    out: Tensor = _Attend.apply(values, source_score, target_score, edges, slope)
    return out
