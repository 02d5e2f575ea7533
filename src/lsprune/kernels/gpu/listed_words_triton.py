"""The two steps of a round of `listed_words` as Triton kernels: scores stay in registers."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from lsprune.kernels.gpu.nearest_words_triton import columns_of

__all__ = ["BLOCK_ROWS", "columns_of", "compare", "next_keys"]

BLOCK_ROWS, TILE_WORDS = 64, 128  # rows with the same list, and words, that are multiplied at a time
LISTS = 256  # that coarse words are padded to
LEAST_KEY = tl.constexpr(-(2**31))


@triton.jit
def _next_keys(
    rows, active, last, coarse, bias, out, count,
    columns: tl.constexpr, lists: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Set out[i] to the largest key of a list below last[i], for the row active[i]."""
    place = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    here = place < count
    at = tl.load(active + place, mask=here, other=0)
    column = tl.arange(0, columns)
    own = tl.load(rows + at[:, None] * columns + column[None, :], mask=here[:, None], other=0)
    before = tl.load(last + place, mask=here, other=0)
    best = tl.full([height], LEAST_KEY, tl.int32)
    for first in range(0, lists, width):
        word = first + tl.arange(0, width)
        block = tl.load(coarse + word[:, None] * columns + column[None, :])
        keys = tl.dot(own, tl.trans(block), out_dtype=tl.int32) * (2 * lists) + tl.load(bias + word)[None, :]
        best = tl.maximum(best, tl.max(tl.where(keys < before[:, None], keys, LEAST_KEY), axis=1))
    tl.store(out + place, best, mask=here)


@triton.jit
def _compare(
    rows, active, firsts, stops, begins, ends, words, norms, distance, nearest,
    columns: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Compare the rows of a block with the words of its list; a key is a score and the place of a word in its tile."""
    block = tl.program_id(0)
    place = tl.load(firsts + block) + tl.arange(0, height)
    here = place < tl.load(stops + block)
    at = tl.load(active + place, mask=here, other=0)
    column = tl.arange(0, columns)
    tile = tl.arange(0, width)
    own = tl.load(rows + at[:, None] * columns + column[None, :], mask=here[:, None], other=0)
    begin = tl.load(begins + block).to(tl.int32)
    end = tl.load(ends + block).to(tl.int32)
    best = tl.full([height], LEAST_KEY, tl.int32)
    where = tl.zeros([height], tl.int32)
    for first in range(begin, end, width):
        word = first + tile
        inside = word < end
        table = tl.load(words + word[:, None] * columns + column[None, :], mask=inside[:, None], other=0)
        products = tl.dot(own, tl.trans(table), out_dtype=tl.int32)
        scores = 2 * products - tl.load(norms + word, mask=inside, other=0)[None, :]
        keys = tl.where(inside[None, :], scores * width + (width - 1 - tile)[None, :], LEAST_KEY)
        top = tl.max(keys, axis=1)
        better = (top & -width) > (best & -width)  # the first of equals stays
        best = tl.where(better, top, best)
        where = tl.where(better, first, where)
    wide = own.to(tl.int32)
    away = tl.sum(wide * wide, axis=1) - (best & -width) // width
    nearer = here & (away < tl.load(distance + at, mask=here, other=0))
    tl.store(distance + at, away, mask=nearer)
    tl.store(nearest + at, where + (width - 1) - (best & (width - 1)), mask=nearer)


def next_keys(rows: Any, active: Any, last: Any, coarse: Any, bias: Any) -> Any:
    """Return the next key of each active row; see `listed_words.ListSearch.next_keys`."""
    out = torch.empty_like(last)
    with torch.cuda.device_of(rows):
        _next_keys[triton.cdiv(active.shape[0], TILE_WORDS),](
            rows, active, last, coarse, bias, out, active.shape[0],
            columns=rows.shape[1], lists=LISTS, height=TILE_WORDS, width=TILE_WORDS, num_warps=4,
        )  # fmt: skip
    return out


def compare(rows: Any, active: Any, blocks: Any, words: Any, norms: Any, found: Any) -> None:
    """Compare rows with the words of their lists; see `listed_words.ListSearch.compare`."""
    with torch.cuda.device_of(rows):
        _compare[blocks.first.shape[0],](
            rows, active, blocks.first, blocks.stop, blocks.begin, blocks.end, words, norms, found.distance, found.word,
            columns=rows.shape[1], height=BLOCK_ROWS, width=TILE_WORDS, num_warps=4,
        )  # fmt: skip
