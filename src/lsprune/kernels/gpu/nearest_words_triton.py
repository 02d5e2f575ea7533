"""The nearest words in one Triton kernel: scores stay in registers, where torch's matrix product writes them all out.

A program holds a block of rows and goes through all words. Keys are those of `words`, so that the numbers are the same.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

ROWS, WORDS = 128, 128  # that are multiplied at a time; WORDS divides the words of a group
NARROWEST = 32  # columns: what products of bytes need at least, always a power of two
FAR = tl.constexpr(-(2**31))


@triton.jit
def _nearest(
    rows, words, bias, out, count, number,
    columns: tl.constexpr, group: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """out[i] = the word of the largest key for row i, for i < count; `number` words, a multiple of `width`."""
    at = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    column = tl.arange(0, columns)
    own = tl.load(rows + at[:, None] * columns + column[None, :], mask=(at < count)[:, None], other=0)
    best = tl.full([height], FAR, tl.int32)
    where = tl.zeros([height], tl.int32)
    for first in range(0, number, width):
        word = first + tl.arange(0, width)
        some = tl.load(words + word[:, None] * columns + column[None, :])
        scores = tl.dot(own, tl.trans(some), out_dtype=tl.int32)
        top = tl.max(scores * (2 * group) + tl.load(bias + word)[None, :], axis=1)
        better = (top & -group) > (best & -group)  # the first of equals stays
        best = tl.where(better, top, best)
        where = tl.where(better, first, where)
    found = (where & -group) + (group - 1) - (best & (group - 1))
    tl.store(out + at, found, mask=at < count)


def columns_of(dim: int) -> int:
    """Columns that rows and words of `dim` are padded to."""
    return max(NARROWEST, 1 << (dim - 1).bit_length())


def nearest(rows: Any, words: Any, bias: Any, group: int) -> Any:
    """The nearest word of each row: rows `[R, C]` and words `[W, C]` int8, bias `[W]` int32, W a multiple of group."""
    out = torch.empty(rows.shape[0], dtype=torch.int32, device=rows.device)
    if rows.shape[0]:
        with torch.cuda.device_of(rows):
            _nearest[triton.cdiv(rows.shape[0], ROWS),](
                rows, words, bias, out, rows.shape[0], words.shape[0],
                columns=rows.shape[1], group=group, height=ROWS, width=WORDS, num_warps=4, num_stages=3,
            )  # fmt: skip
    return out
