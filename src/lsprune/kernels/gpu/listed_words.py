"""A near codebook word for each row, searched for in a few lists of words: what `reference.listed_words` finds.

All rows search at once, in rounds: each takes the list that is next for it, rows are sorted by list, and blocks of rows
with the same list are compared with its words. Rows whose nearest word is near enough leave.

Where Triton works, its kernels do both steps of a round (`listed_words_triton`); elsewhere matrix products of torch do.
Their sums are below 2^24, so that float32 holds them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.graph import Array
from lsprune.kernels.gpu.triton_support import triton_kernels

MAX_LISTS = 1 << 8  # that the low bits of a key tell apart
CHUNK_VALUES = 1 << 25  # products held at a time
BLOCK_ROWS = 32  # rows with the same list that torch compares with its words
MAX_DISTANCE = 2**31 - 1
_MAX_COLUMNS = 128  # columns for which keys fit int32
_LEAST_KEY, _ANY_KEY = -(2**31), 2**31 - 1


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in blocks that have the same list; a block without rows is empty, first == stop."""

    first: Tensor  # [blocks] place of the first row
    stop: Tensor  # [blocks] place after the last row with this list
    begin: Tensor  # [blocks] first word of the list
    end: Tensor  # [blocks] word after the last

    @classmethod
    def of(cls, number: Tensor, start: Tensor, size: int) -> Blocks:
        """Cut sorted list numbers into blocks of `size` places; there may be empty blocks."""
        lists = start.shape[0] - 1
        place = torch.searchsorted(number, torch.arange(lists + 1, dtype=number.dtype, device=number.device))
        ends = ((place.diff() + size - 1) // size).cumsum(0)  # of the blocks of each list
        block = torch.arange(number.shape[0] // size + lists, device=number.device)
        own = torch.searchsorted(ends, block, right=True)  # the list of each block; one too many if it is empty
        listed = own.clamp(max=lists - 1)
        before = torch.where(listed > 0, ends[(listed - 1).clamp(min=0)], 0)
        stop = place[listed + 1]
        first = torch.where(own < lists, place[listed] + (block - before) * size, stop)
        return cls(first, stop, start[listed], start[listed + 1])


@dataclass(frozen=True, eq=False)
class Found:
    """The nearest word of each row so far, and its squared distance, int32."""

    word: Tensor
    distance: Tensor


@dataclass(frozen=True, eq=False)
class ListSearch:
    """A search among words in lists, on the device that they are on."""

    coarse: Tensor  # [MAX_LISTS, columns] int8, both padded with zeros
    bias: Tensor  # [MAX_LISTS] int32: the key of each list for a row of zeros; keys are those of `nearest_words`
    words: Tensor  # [words, columns] int8
    norms: Tensor  # [words] int32
    start: Tensor  # [lists + 1] int64
    radius: Tensor  # [words] int32
    max_lists: int
    longest: int  # number of words of the longest list
    fused: ModuleType | None

    def nearest(self, rows: Tensor) -> Tensor:
        """Return a near word of each row, int32; rows are int8 on the device."""
        rows = torch.nn.functional.pad(rows, (0, self.words.shape[1] - rows.shape[1]))
        word, distance = (
            torch.full((rows.shape[0],), value, dtype=torch.int32, device=rows.device) for value in (0, MAX_DISTANCE)
        )
        found, active = Found(word, distance), torch.arange(rows.shape[0], device=rows.device)
        keys = torch.full_like(distance, _ANY_KEY)
        for _ in range(self.max_lists):
            if not active.shape[0]:
                break
            keys = self.next_keys(rows, active, keys)
            number, order = torch.sort(MAX_LISTS - 1 - (keys & (MAX_LISTS - 1)))
            active, keys = active[order], keys[order]
            self.compare(rows, active, number, found)
            far = (found.distance[active] > self.radius[found.word[active].long()]).nonzero()[:, 0]
            active, keys = active[far], keys[far]
        return word

    def next_keys(self, rows: Tensor, active: Tensor, keys: Tensor) -> Tensor:
        """Return the largest key of a list below the last key of each active row."""
        if self.fused is not None:
            following: Tensor = self.fused.next_keys(rows, active, keys, self.coarse, self.bias)
            return following
        out, coarse = torch.empty_like(keys), self.coarse.float().T
        for lo in range(0, active.shape[0], CHUNK_VALUES // MAX_LISTS):
            some = slice(lo, lo + CHUNK_VALUES // MAX_LISTS)
            all_keys = (rows[active[some]].float() @ coarse).int() * (2 * MAX_LISTS) + self.bias
            out[some] = torch.where(all_keys < keys[some, None], all_keys, _LEAST_KEY).amax(1)
        return out

    def compare(self, rows: Tensor, active: Tensor, number: Tensor, found: Found) -> None:
        """Compare each active row with the words of one list, sorted by list; update what was found."""
        if self.fused is not None:
            blocks = Blocks.of(number, self.start, self.fused.BLOCK_ROWS)
            self.fused.compare(rows, active, blocks, self.words, self.norms, found)
            return
        blocks = Blocks.of(number, self.start, BLOCK_ROWS)
        used = (blocks.first < blocks.stop).nonzero()[:, 0]
        size = max(CHUNK_VALUES // (BLOCK_ROWS * self.longest), 1)
        for lo in range(0, used.shape[0], size):
            some = used[lo : lo + size]
            self._compare_blocks(rows, active, Blocks(*(values[some] for values in vars(blocks).values())), found)

    def _compare_blocks(self, rows: Tensor, active: Tensor, blocks: Blocks, found: Found) -> None:
        place = blocks.first[:, None] + torch.arange(BLOCK_ROWS, device=rows.device)
        word = blocks.begin[:, None] + torch.arange(self.longest, device=rows.device)
        inside, row = word < blocks.end[:, None], active[place.clamp(max=active.shape[0] - 1)]
        word = word.clamp(max=self.words.shape[0] - 1)
        own = rows[row].float()
        products = torch.bmm(own, self.words[word].float().transpose(1, 2)).int()
        away = (own * own).sum(2).int()[:, :, None] + self.norms[word][:, None, :] - 2 * products
        # No two sums are equal: the smallest is the nearest word, and the first of equals.
        best = torch.where(inside[:, None, :], (away.long() << 32) + word[:, None, :], 2**63 - 1).amin(2)
        near = (best >> 32).int()
        better = (place < blocks.stop[:, None]) & (near < found.distance[row])
        found.distance[row[better]] = near[better]
        found.word[row[better]] = (best & 0xFFFFFFFF).int()[better]


def searcher(coarse: Array, words: Array, start: Array, radius: Array, max_lists: int, device: Any) -> ListSearch:
    """Return a search on a torch device; the arrays are those of `reference.listed_words`."""
    lists, dim = coarse.shape
    assert lists <= MAX_LISTS and dim <= _MAX_COLUMNS
    fused = triton_kernels("listed_words_triton", torch.device(device))
    columns = dim if fused is None else fused.columns_of(dim)
    stored = np.zeros((MAX_LISTS, columns), np.int8)
    stored[:lists, :dim] = coarse
    bias = np.full(MAX_LISTS, _LEAST_KEY, np.int64)
    bias[:lists] = MAX_LISTS - 1 - np.arange(lists) - MAX_LISTS * _norms(coarse)
    listed = np.zeros((words.shape[0], columns), np.int8)
    listed[:, :dim] = words

    def there(array: Array, dtype: Any) -> Tensor:
        return torch.from_numpy(array.astype(dtype)).to(device)

    return ListSearch(
        there(stored, np.int8), there(bias, np.int32), there(listed, np.int8), there(_norms(words), np.int32),
        there(start, np.int64), there(np.minimum(radius, MAX_DISTANCE), np.int32), min(max_lists, lists),
        int(np.diff(start).max()), fused,
    )  # fmt: skip


def _norms(rows: Array) -> Array:
    return np.asarray((rows.astype(np.int64) ** 2).sum(1))
