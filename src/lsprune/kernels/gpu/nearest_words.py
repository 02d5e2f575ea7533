"""The nearest of many words to each row, on a device: int8 matrix products, int32 sums, no rounding anywhere.

A row x is nearest to the word c with the largest score 2<x, c> - <c, c>. Rows and words are in [-128, 127] and have at
most 128 columns, so that a score lies in [-3 * 2^21, 2^21] and leaves eight bits of an int32 free. They hold the place
of a word in its group of 256, counted from the end: the largest such key is the best score of the group and the first
word that has it. What torch does with equal values does not matter, as no two keys are equal.

Where Triton works, one kernel of it does the whole search (`fused`); elsewhere matrix products of torch do.
"""

from __future__ import annotations

from collections.abc import Callable
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
SEARCH_ROWS = 1 << 18  # rows that a call should bring
GROUP = 256  # words whose scores are told apart by the low bits of their keys
PANEL = 1 << 14  # words that are multiplied at a time
KEYS = 1 << 26  # keys held at a time: 256 MiB
WIDEST = 128  # columns for which keys fit int32
FAR = -(2**31)  # the key of a place in the last group that is no word: below that of any word
_ROWS, _COLUMNS = 32, 16  # CUDA multiplies more than 16 rows, and whole 16 bytes of them fastest
_OLDEST = (8, 0)  # compute capability of devices that Triton compiles for


@dataclass(frozen=True, eq=False)
class Search:
    """Fills `out` with the nearest word of each row, the first of those that are equally near.

    Threads may share one: they prepare their rows side by side and wait for each other at the device.
    """

    words: Tensor  # [words, columns] int8, both padded with zeros
    bias: Tensor  # [words] int32: the key of each word for a row of zeros
    panel: int
    keys: int
    fused: ModuleType | None
    lock: Any = field(default_factory=Lock)

    def __call__(self, rows: Array, out: Array) -> None:
        small = rows.astype(np.int8)
        assert np.array_equal(small, rows)
        with self.lock:
            out[:] = self._nearest(small)[: rows.shape[0]].cpu().numpy()

    def _nearest(self, rows: Array) -> Tensor:
        """The nearest word of each row, and of some rows of zeros that follow."""
        torch = _torch()
        sides = (0, self.words.shape[1] - rows.shape[1], 0, -rows.shape[0] % _ROWS)
        padded = torch.nn.functional.pad(torch.from_numpy(rows).to(self.words.device), sides)
        if self.fused is not None:
            found: Tensor = self.fused.nearest(padded, self.words, self.bias, GROUP)
            return found
        size = max(self.keys // min(self.panel, self.words.shape[0]) // _ROWS, 1) * _ROWS
        best: Tensor = torch.cat([self._best(some) for some in padded.split(size)])
        return (-best & 0xFFFFFFFF).to(torch.int32)

    def _best(self, rows: Tensor) -> Tensor:
        """Score * 2^32 - word, of the best word of each row: [R] int64."""
        torch = _torch()
        best: Tensor | None = None
        for first in range(0, self.words.shape[0], self.panel):
            some = slice(first, first + self.panel)
            found = _best_of_panel(torch, rows, self.words[some], self.bias[some], first)
            best = found if best is None else torch.maximum(best, found)
        assert best is not None
        return best


def _best_of_panel(torch: Any, rows: Tensor, words: Tensor, bias: Tensor, first: int) -> Any:
    """The same among the words first .. first + len(words)."""
    keys = torch._int_mm(rows, words.t())  # [R, W] int32
    torch.add(bias, keys, alpha=2 * GROUP, out=keys)
    tops = keys.view(rows.shape[0], -1, GROUP).amax(2).to(torch.int64)  # [R, W / GROUP]
    last = torch.arange(first + GROUP - 1, first + words.shape[0], GROUP, device=rows.device)
    return ((tops // GROUP << 32) - (last - tops % GROUP)).amax(1)


def searcher(
    words: Array, device: str | None = None, *, panel: int = PANEL, keys: int = KEYS, triton: bool = True
) -> Callable[[Array, Array], None]:
    """A search among words `[count, dim]` int16, on a torch device (default: DEVICE), with Triton where it works."""
    torch = _torch()
    count, dim = words.shape
    assert count and dim <= WIDEST and panel % GROUP == 0
    assert words.min(initial=0) >= -128 and words.max(initial=0) <= 127
    where = torch.device(device or DEVICE)
    fused = _fused(where) if triton else None
    places = max(-(-count // GROUP), 1) * GROUP
    columns = max(-(-dim // _COLUMNS), 1) * _COLUMNS if fused is None else fused.columns_of(dim)
    padded = np.zeros((places, columns), np.int8)
    padded[:count, :dim] = words
    bias = np.full(places, FAR, np.int64)
    bias[:count] = GROUP - 1 - np.arange(count) % GROUP - GROUP * (words.astype(np.int64) ** 2).sum(1)
    stored, level = (torch.from_numpy(array).to(where) for array in (padded, bias.astype(np.int32)))
    return Search(stored, level, panel=panel, keys=keys, fused=fused)


@cache
def _fused(where: Any) -> ModuleType | None:
    """The kernel for the whole search, where there is Triton, and all that it needs to compile for the device.

    That is more than an import tells: a C compiler, headers, a folder to write to. So it is tried.
    """
    torch = _torch()
    if where.type != "cuda" or torch.cuda.get_device_capability(where) < _OLDEST:
        return None
    try:
        found = import_module("lsprune.kernels.gpu.nearest_words_triton")
        words = torch.zeros((GROUP, found.columns_of(1)), dtype=torch.int8, device=where)
        found.nearest(words[:1], words, torch.zeros(GROUP, dtype=torch.int32, device=where), GROUP)
    except Exception:  # whatever it is, torch can do the work
        return None
    return found


def check_device() -> None:
    """Raise unless there is the device that the executor needs."""
    if DEVICE == "cuda" and not _torch().cuda.is_available():
        raise OptionError("executor gpu needs a CUDA device, and torch finds none; executor cpu gives the same mask")


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("executor gpu needs PyTorch: pip install 'lsprune[gnn]'") from error
    return torch
