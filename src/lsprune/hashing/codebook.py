"""LSP-Q: vector quantisation with a codebook that `fit` learns, then min-hash of the nearest word.

Words are learned from the data, so two noisy copies of an edge mostly have the same word, and the same edges are kept
in both. Rows, words (rounded means), distances and keys are all integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from lsprune.checks import MOST_WHOLE, check_flag, set_whole
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.hashing.base import Family, Keys, View
from lsprune.hashing.codebook_training import train_words
from lsprune.hashing.keys import in_blocks, of_codes, uniform
from lsprune.hashing.quantised_rows import row_blocks, width, width_of
from lsprune.hashing.word_search import WordSearch
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.random_numbers import SAMPLE, WORD, draw, mix64

MAX_SAMPLED_ROWS = 1 << 20  # distinct rows that a codebook is learned from
MAX_EXACT_WORDS = 1 << 12  # up to so many distinct rows are the words themselves, if each occurs 4 times on average


@dataclass(frozen=True, kw_only=True)
class Codebook(Family):
    """LSP-Q: the key is a hash of the nearest word of a learned codebook.

    Args:
        words: number of words; None: chosen by `fit`, such that similar rows share a word as often as possible.
        iterations: maximum number of k-means iterations.
        exact: compare every row with every word. Otherwise codebooks of more than 16,384 words are learned and searched
            by lists of words (see `word_lists`), 10 to 20 times as fast, which finds nearly always the same word.

    >>> Codebook(words=1024)
    Codebook(words=1024, iterations=2, exact=False)
    """

    name: ClassVar[str] = "codebook"
    about: ClassVar[str] = "LSP-Q: min-hash of the nearest word of a codebook learned by fit"
    learns: ClassVar[bool] = True
    has_codes: ClassVar[bool] = True

    words: int | None = None
    iterations: int = 2
    exact: bool = False

    def __post_init__(self) -> None:
        set_whole(self, "words", 1, 1 << 20, "a whole number in [1, 1048576] or None", none=True)
        set_whole(self, "iterations", 1, MOST_WHOLE, "a whole number in [1, 2^63)")
        check_flag("exact", self.exact)
        object.__setattr__(self, "exact", bool(self.exact))  # numpy's to Python's

    @property
    def needs(self) -> Needs:
        """Say that keys are computed once per neighbour, on a GPU too."""
        return replace(super().needs, gpu=True)

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Say what is wrong with the words of a codebook that was read from a file; empty if nothing."""
        if learned is None:
            return "the words of the codebook are missing"
        columns, in_range = width_of(dims.values()), learned.min(initial=0) >= -128 and learned.max(initial=0) <= 127
        if learned.ndim != 2 or learned.shape[0] > MAX_SAMPLED_ROWS or learned.shape[1] != columns or not in_range:
            return (
                f"the words of the codebook must be at most {MAX_SAMPLED_ROWS} rows of {columns} integers "
                "in [-128, 127]"
            )
        return ""

    def learn(self, view: View) -> Array:
        """Return the words `[count, width]` int16."""
        rows, total = _distinct_rows(view)
        if self.words is not None and rows.shape[0] < self.words:
            raise GraphError(
                f"words must be at most {rows.shape[0]}, the number of distinct attribute rows to learn from, "
                f"got {self.words}"
            )
        if self.words is None and rows.shape[0] <= min(MAX_EXACT_WORDS, max(total // 4, 1)):
            return rows
        search = WordSearch(training_runtime(view), self.exact)
        return train_words(rows, self.words, self.iterations, view.seed, search)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Return the keys of the functions first+1 .. first+count."""
        if view.learned is None:
            raise GraphError("a codebook must be learned by fit first")
        if "words" not in view.cache:
            view.cache["words"] = assigned_words(view, exact=self.exact)
        steps = np.arange(first + 1, first + count + 1)[None, :]

        def keys_of_words(words: Array) -> Array:
            return uniform(view, draw(view.seed, WORD, steps, words))

        return of_codes(view, view.cache["words"], keys_of_words, view.learned.shape[0], count)


def assigned_words(view: View, *, exact: bool = False) -> Array:
    """Return the word of every slot, or of every neighbour if its attributes are the only part."""
    assert view.learned is not None
    if view.device is not None:
        tensor: Array = _on_device().assigned_words(view, exact)
        return tensor
    blocks, read = row_blocks(view, view.runtime.module.SEARCH_ROWS)
    out = view.runtime.zeros(blocks[-1][1] if blocks else 0, np.int32)
    check_words(view, out.shape[0])
    search = WordSearch(view.runtime, exact).searcher(view.learned)

    def assign_block(i: int, _: int) -> None:
        lo, hi = blocks[i]
        search(read(lo, hi), out[lo:hi])

    view.runtime.spread(len(blocks), assign_block, 1)
    if list(view.parts) == ["neighbour"]:
        part = view.parts["neighbour"]
        index = part.index
        return out if index is None else in_blocks(view, index.shape[0], lambda lo, hi: out[index[lo:hi]])
    return out


def training_runtime(view: View) -> Runtime:
    """Return where words are trained, from a sample in host memory: on a device only the nearest words are found."""
    if view.device is None:
        return view.runtime
    executor: str = _on_device().executor(view)
    return Runtime(executor, view.runtime.threads)


def check_words(view: View, rows: int) -> None:
    """Raise GraphError if there are rows and no words."""
    if rows and view.learned is not None and not view.learned.size:
        raise GraphError("the codebook has no words, for it was fitted on a graph without edges; fit it on another")


def _on_device() -> Any:
    """Return the module with the same functions for views on a device; it imports torch."""
    return import_module("lsprune.hashing.device_codebook")


def _distinct_rows(view: View) -> tuple[Array, int]:
    """Return up to MAX_SAMPLED_ROWS distinct rows, by a hash of their content, and the number of all rows.

    The rows with the smallest hashes are a random sample that does not depend on the order of rows or blocks.
    """
    if view.device is not None:
        rows, total = _on_device().distinct_rows(view)
        return rows, total
    blocks, read = row_blocks(view)
    sample, lock = RowSample(width(view)), Lock()

    def add_block(i: int, _: int) -> None:
        rows = read(*blocks[i])
        hashes = row_hashes(rows, view.seed)
        with lock:
            sample.add(hashes, rows)

    view.runtime.spread(len(blocks), add_block, 1)
    return sample.rows(), described(view, blocks[-1][1] if blocks else 0)


def described(view: View, rows: int) -> int:
    """Return the number of slots or nodes that so many rows describe: nodes of one category share a row."""
    categories = view.parts["neighbour"].index if list(view.parts) == ["neighbour"] else None
    return rows if categories is None else int(categories.shape[0])


class RowSample:
    """The distinct rows with the MAX_SAMPLED_ROWS smallest hashes among all rows that were added."""

    def __init__(self, width: int) -> None:
        self.hashes, self.kept = [np.zeros(0, np.uint64)], [np.zeros((0, width), np.int16)]
        self.limit, self.size = np.uint64(2**64 - 1), 0

    def add(self, hashes: Array, rows: Array) -> None:
        """Add rows with their hashes."""
        within = hashes <= self.limit
        self.hashes.append(hashes[within])
        self.kept.append(rows[within])
        self.size += self.hashes[-1].shape[0]
        if self.size > 2 * MAX_SAMPLED_ROWS:
            self._compress()

    def _compress(self) -> None:
        hashes, first = np.unique(np.concatenate(self.hashes), return_index=True)
        self.kept = [np.concatenate(self.kept)[first[:MAX_SAMPLED_ROWS]]]
        self.hashes = [hashes[:MAX_SAMPLED_ROWS]]
        self.size = self.hashes[0].shape[0]
        if self.size == MAX_SAMPLED_ROWS:
            self.limit = self.hashes[0][-1]

    def rows(self) -> Array:
        """Return the sampled rows, by ascending hash."""
        self._compress()
        return np.ascontiguousarray(self.kept[0])


def row_hashes(rows: Array, seed: int) -> Array:
    """Return a uint64 hash of the content of each row."""
    factors = hash_factors(rows.shape[1], seed)
    return mix64((rows.astype(np.int64) @ factors.view(np.int64)).view(np.uint64))  # sums modulo 2^64


def hash_factors(columns: int, seed: int) -> Array:
    """Return the odd uint64 factors of the columns in `row_hashes`."""
    return draw(seed, SAMPLE, np.arange(columns)) | np.uint64(1)
