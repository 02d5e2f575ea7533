"""The rows that a codebook is learned from, and the word of every row, on a device: what `hashing.codebook` finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lsprune.graph import Array
from lsprune.hashing import codebook
from lsprune.hashing.base import View
from lsprune.hashing.codebook import check_words, described, hash_factors
from lsprune.hashing.device_rows import note_bad_rows, row_blocks
from lsprune.hashing.quantised_rows import width
from lsprune.hashing.word_lists import listed
from lsprune.hashing.word_search import ByContent, WordSearch
from lsprune.kernels import runtime
from lsprune.kernels.gpu import listed_words, nearest_words
from lsprune.kernels.gpu.constants import constant
from lsprune.kernels.gpu.quantisation import row_chunks
from lsprune.kernels.gpu.splitmix import mix64, signed

Nearest = Callable[[Tensor], Tensor]  # from rows, int8, to the number of a word for each


def executor(view: View) -> str:
    """Return the executor that trains words in host memory: the one that finds the nearest on this kind of device."""
    return "gpu" if view.device.type == nearest_words.DEVICE else "cpu"


def assigned_words(view: View, exact: bool) -> Tensor:
    """Return the word of every slot, or of every neighbour, int32; see `hashing.codebook.assigned_words`."""
    words: Any = view.learned
    note_bad_rows(view)
    blocks, read = row_blocks(view)
    check_words(view, len(blocks))
    search = _searcher(ByContent(words), exact, view.device) if blocks else None
    found = [search(read(lo, hi)) for lo, hi in blocks] if search is not None else []
    out = torch.cat(found) if found else torch.zeros(0, dtype=torch.int32, device=view.device)
    index: Any = view.parts["neighbour"].index if list(view.parts) == ["neighbour"] else None
    return out if index is None else out[index.long()]


@lru_cache(maxsize=2)
def _searcher(words: ByContent, exact: bool, device: Any) -> Nearest:
    """Return a search among words; it is kept, for the next graph or batch has the same words."""
    host = runtime()
    if not WordSearch(host, exact).by_lists(words.array):
        return nearest_words.searcher(words.array, device).nearest
    lists = listed(words.array, host)
    search = listed_words.searcher(lists.coarse, lists.words, lists.start, lists.near(host), lists.max_lists, device)
    numbers = torch.from_numpy(lists.numbers).to(device)
    return lambda rows: numbers[search.nearest(rows).long()]


def distinct_rows(view: View) -> tuple[Array, int]:
    """Return a sample of the distinct rows, int16 in host memory, and the number of all; see `hashing.codebook`."""
    blocks, read = row_blocks(view)
    sample = _Sample(width(view), view.device)
    for lo, hi in blocks:
        rows = read(lo, hi)
        sample.add(row_hashes(rows, view.seed), rows)
    return sample.rows().cpu().numpy().astype(np.int16), described(view, blocks[-1][1] if blocks else 0)


def row_hashes(rows: Tensor, seed: int) -> Tensor:
    """Return a hash of the content of each row, in the order of uint64: as int64 with the first bit changed."""
    factors = constant(hash_factors(rows.shape[1], seed), rows.device)
    out = torch.empty(rows.shape[0], dtype=torch.int64, device=rows.device)
    for lo, hi in row_chunks(*rows.shape):
        out[lo:hi] = mix64((rows[lo:hi].long() * factors).sum(1))
    return out ^ signed(1 << 63)


class _Sample:
    """The distinct rows with the smallest hashes among all rows that were added; see `codebook.RowSample`."""

    def __init__(self, width: int, device: Any) -> None:
        self.hashes = torch.zeros(0, dtype=torch.int64, device=device)
        self.kept = torch.zeros((0, width), dtype=torch.int8, device=device)

    def add(self, hashes: Tensor, rows: Tensor) -> None:
        """Add rows with their hashes."""
        if self.hashes.shape[0] == codebook.MAX_SAMPLED_ROWS:
            within = (hashes <= self.hashes[-1]).nonzero()[:, 0]
            hashes, rows = hashes[within], rows[within]
        both, order = torch.sort(torch.cat([self.hashes, hashes]), stable=True)
        new = torch.ones_like(both, dtype=torch.bool)
        new[1:] = both[1:] != both[:-1]
        first = new.nonzero()[: codebook.MAX_SAMPLED_ROWS, 0]
        self.hashes, self.kept = both[first], torch.cat([self.kept, rows])[order[first]]

    def rows(self) -> Tensor:
        """Return the sampled rows, by ascending hash."""
        return self.kept
