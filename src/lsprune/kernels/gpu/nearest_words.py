"""The nearest of many codebook words to each row, on a GPU: int8 matrix products, int32 sums, no rounding.

A row x is nearest to the word c with the largest score 2<x, c> - <c, c>. Rows and words are in [-128, 127] and have at
most 128 columns, so that a score lies in [-3 * 2^21, 2^21] and leaves eight bits of an int32 free. They hold the place
of a word in its group of 256, counted from the end: the largest such key is the best score of the group and the first
word that has it. What torch does with equal values does not matter, as no two keys are equal.

Where Triton works, its kernel does the whole search (`nearest_words_triton`); elsewhere matrix products of torch do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from lsprune.errors import MissingDependency, OptionError
from lsprune.graph import Array

if TYPE_CHECKING:
    from torch import Tensor

DEVICE = "cuda"
SEARCH_ROWS = 1 << 18  # rows to pass to one call of a search
GROUP_WORDS = 256  # words that the low bits of a key tell apart
BLOCK_WORDS = 1 << 14  # words to multiply at a time
MAX_KEYS = 1 << 26  # keys held at a time: 256 MiB
MAX_COLUMNS = 128  # columns for which keys fit int32
PADDING_KEY = -(2**31)  # of places in the last group that hold no word: below that of any word
_ROW_MULTIPLE, _COLUMN_MULTIPLE = 32, 16  # CUDA multiplies more than 16 rows; multiples of 16 bytes are fastest
_MIN_CAPABILITY = (8, 0)  # CUDA compute capability that Triton compiles for


@dataclass(frozen=True, eq=False)
class Search:
    """A search that fills `out` with the nearest word of each row, the first of those that are equally near.

    Threads may share it: they prepare their rows in parallel and take turns on the device.
    """

    words: Tensor  # [words, columns] int8, both padded with zeros
    bias: Tensor  # [words] int32: the key of each word for a row of zeros
    word_block: int
    keys: int
    fused: ModuleType | None
    lock: Any = field(default_factory=Lock)

    def __call__(self, rows: Array, out: Array) -> None:
        small = rows.astype(np.int8)
        assert np.array_equal(small, rows)
        with self.lock:
            out[:] = self.nearest(_torch().from_numpy(small).to(self.words.device)).cpu().numpy()

    def nearest(self, rows: Tensor) -> Tensor:
        """Return the nearest word of each row, int32; rows are int8 on the device of the words."""
        sides = (0, self.words.shape[1] - rows.shape[1], 0, -rows.shape[0] % _ROW_MULTIPLE)
        return self._of_padded(_torch().nn.functional.pad(rows, sides))[: rows.shape[0]]

    def _of_padded(self, padded: Any) -> Tensor:
        """Return the nearest word of each row, and of the rows of zeros that pad them."""
        torch = _torch()
        if self.fused is not None:
            nearest: Tensor = self.fused.nearest(padded, self.words, self.bias, GROUP_WORDS)
            return nearest
        size = max(self.keys // min(self.word_block, self.words.shape[0]) // _ROW_MULTIPLE, 1) * _ROW_MULTIPLE
        best: Tensor = torch.cat([self._best(block) for block in padded.split(size)])
        return (-best & 0xFFFFFFFF).to(torch.int32)

    def _best(self, rows: Tensor) -> Tensor:
        """Return score * 2^32 - word of the best word of each row: [R] int64."""
        torch = _torch()
        best: Tensor | None = None
        for first in range(0, self.words.shape[0], self.word_block):
            word_block = slice(first, first + self.word_block)
            block_best = _best_of_block(torch, rows, self.words[word_block], self.bias[word_block], first)
            best = block_best if best is None else torch.maximum(best, block_best)
        assert best is not None
        return best


def _best_of_block(torch: Any, rows: Tensor, words: Tensor, bias: Tensor, first: int) -> Any:
    """Return the same among the words first .. first + len(words)."""
    keys = torch._int_mm(rows, words.t())  # [R, W] int32
    torch.add(bias, keys, alpha=2 * GROUP_WORDS, out=keys)
    tops = keys.view(rows.shape[0], -1, GROUP_WORDS).amax(2).to(torch.int64)  # [R, W / GROUP_WORDS]
    last = torch.arange(first + GROUP_WORDS - 1, first + words.shape[0], GROUP_WORDS, device=rows.device)
    return ((tops // GROUP_WORDS << 32) - (last - tops % GROUP_WORDS)).amax(1)


def searcher(
    words: Array, device: Any = None, *, word_block: int = BLOCK_WORDS, keys: int = MAX_KEYS, triton: bool = True
) -> Search:
    """Return a search among words `[count, dim]` int16, on a torch device, with Triton if it works."""
    torch = _torch()
    count, dim = words.shape
    assert count and dim <= MAX_COLUMNS and word_block % GROUP_WORDS == 0
    assert words.min(initial=0) >= -128 and words.max(initial=0) <= 127
    where = torch.device(device or DEVICE)
    fused = _fused(where) if triton else None
    places = max(-(-count // GROUP_WORDS), 1) * GROUP_WORDS
    columns = max(-(-dim // _COLUMN_MULTIPLE), 1) * _COLUMN_MULTIPLE if fused is None else fused.columns_of(dim)
    padded = np.zeros((places, columns), np.int8)
    padded[:count, :dim] = words
    bias = np.full(places, PADDING_KEY, np.int64)
    bias[:count] = GROUP_WORDS - 1 - np.arange(count) % GROUP_WORDS - GROUP_WORDS * (words.astype(np.int64) ** 2).sum(1)
    stored, level = (torch.from_numpy(array).to(where) for array in (padded, bias.astype(np.int32)))
    return Search(stored, level, word_block=word_block, keys=keys, fused=fused)


@cache
def _fused(where: Any) -> ModuleType | None:
    """Return the module with the Triton kernel, or None if it does not work on this device.

    Compiling needs more than an import shows (a C compiler, headers, a folder to write to), so it is tried once.
    """
    torch = _torch()
    if where.type != "cuda" or torch.cuda.get_device_capability(where) < _MIN_CAPABILITY:
        return None
    try:
        module = import_module("lsprune.kernels.gpu.nearest_words_triton")
        words = torch.zeros((GROUP_WORDS, module.columns_of(1)), dtype=torch.int8, device=where)
        module.nearest(words[:1], words, torch.zeros(GROUP_WORDS, dtype=torch.int32, device=where), GROUP_WORDS)
    except Exception:  # whatever it is, torch can do the work
        return None
    return module


def check_device() -> None:
    """Raise OptionError if there is no CUDA device."""
    if DEVICE == "cuda" and not _torch().cuda.is_available():
        raise OptionError("executor gpu needs a CUDA device, and torch finds none; executor cpu gives the same mask")


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("executor gpu needs PyTorch: pip install 'lsprune[gnn]'") from error
    return torch
