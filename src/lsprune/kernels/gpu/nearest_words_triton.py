"""The nearest words in one Triton kernel: scores stay in registers, where torch's matrix product writes them to memory.

A program holds a block of rows and goes through all words. Keys are those of `nearest_words`, so results are the same.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

TILE_ROWS, TILE_WORDS = 128, 128  # multiplied at a time; TILE_WORDS divides the words of a group
MIN_COLUMNS = 32  # of products of bytes
LEAST_KEY = tl.constexpr(-(2**31))


@triton.jit
def _nearest(
    rows, words, bias, out, count, number,
    columns: tl.constexpr, group: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Set out[i] to the word with the largest key for row i, for i < count; `number` words, a multiple of `width`."""
    at = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    column = tl.arange(0, columns)
    own = tl.load(rows + at[:, None] * columns + column[None, :], mask=(at < count)[:, None], other=0)
    best = tl.full([height], LEAST_KEY, tl.int32)
    where = tl.zeros([height], tl.int32)
    for first in range(0, number, width):
        word = first + tl.arange(0, width)
        block = tl.load(words + word[:, None] * columns + column[None, :])
        scores = tl.dot(own, tl.trans(block), out_dtype=tl.int32)
        top = tl.max(scores * (2 * group) + tl.load(bias + word)[None, :], axis=1)
        better = (top & -group) > (best & -group)  # the first of equals stays
        best = tl.where(better, top, best)
        where = tl.where(better, first, where)
    nearest_word = (where & -group) + (group - 1) - (best & (group - 1))
    tl.store(out + at, nearest_word, mask=at < count)


def columns_of(dim: int) -> int:
    """Return the number of columns that rows and words of `dim` columns are padded to: a power of two."""
    return max(MIN_COLUMNS, 1 << (dim - 1).bit_length())


def nearest(rows: Any, words: Any, bias: Any, group: int) -> Any:
    """Return the nearest word of each row.

    Args:
        rows: int8 `[R, C]`. words: int8 `[W, C]`, W a multiple of `group`. bias: int32 `[W]`.
    """
    out = torch.empty(rows.shape[0], dtype=torch.int32, device=rows.device)
    if rows.shape[0]:
        with torch.cuda.device_of(rows):
            _nearest[-(-rows.shape[0] // TILE_ROWS),](
                rows, words, bias, out, rows.shape[0], words.shape[0],
                columns=rows.shape[1], group=group, height=TILE_ROWS, width=TILE_WORDS, num_warps=4, num_stages=3,
            )  # fmt: skip
    return out
