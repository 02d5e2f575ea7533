"""LSP-Q: attributes are replaced by the nearest word of a codebook that `fit` learned, and the word is min-hashed.

Two noisy copies of an edge have the same word as long as the words lie where the data does, so that the same edge is
kept in both. Everything is integers: the rows, the words (rounded means), the distances and the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar

import numpy as np

from lsprune.checks import MOST_WHOLE, set_whole
from lsprune.errors import GraphError
from lsprune.graph import Array
from lsprune.hashing.base import EdgeKeys, Family, Keys, View
from lsprune.hashing.codebook_training import learned_words
from lsprune.hashing.keys import in_blocks, of_nodes, uniform
from lsprune.hashing.quantised_rows import row_blocks, width, width_of
from lsprune.numeric.random_numbers import SAMPLE, WORD, draw, mix64

MOST = 1 << 20  # distinct rows that a codebook is learned from
EXACT = 1 << 12  # distinct rows that may each be a word, where they come four times on average


@dataclass(frozen=True, kw_only=True)
class Codebook(Family):
    """LSP-Q: the key is a random number that belongs to the nearest word of a learned codebook.

    Args:
        words: number of words; None: chosen from the data, such that rows and their nearest other rows agree best.
        iterations: rounds of k-means.

    >>> Codebook(words=1024)
    Codebook(words=1024, iterations=2)
    """

    name: ClassVar[str] = "codebook"
    about: ClassVar[str] = "LSP-Q: min-hash of the nearest word of a codebook learned by fit"
    learns: ClassVar[bool] = True
    has_codes: ClassVar[bool] = True

    words: int | None = None
    iterations: int = 2

    def __post_init__(self) -> None:
        set_whole(self, "words", 1, 1 << 20, "a whole number in [1, 1048576] or None", none=True)
        set_whole(self, "iterations", 1, MOST_WHOLE, "a whole number in [1, 2^63)")

    def learned_problem(self, learned: Array | None, dims: Mapping[str, int]) -> str:
        """Words are rows of small integers, as wide as those of the parts."""
        if learned is None:
            return "the words of the codebook are missing"
        wide, small = width_of(dims.values()), learned.min(initial=0) >= -128 and learned.max(initial=0) <= 127
        if learned.ndim != 2 or learned.shape[0] > MOST or learned.shape[1] != wide or not small:
            return f"the words of the codebook must be at most {MOST} rows of {wide} integers in [-128, 127]"
        return ""

    def learn(self, view: View) -> Array:
        """The words `[count, width]` int16."""
        rows, total = _distinct(view)
        if self.words is not None and rows.shape[0] < self.words:
            raise GraphError(
                f"words must be at most {rows.shape[0]}, the number of distinct attribute rows to learn from, "
                f"got {self.words}"
            )
        if self.words is None and rows.shape[0] <= min(EXACT, max(total // 4, 1)):
            return rows
        return learned_words(rows, self.words, self.iterations, view.seed, view.runtime)

    def keys(self, view: View, first: int, count: int) -> Keys:
        """Keys of the functions first+1 .. first+count."""
        if view.learned is None:
            raise GraphError("a codebook must be learned by fit first")
        steps = np.arange(first + 1, first + count + 1)
        table = np.zeros((view.learned.shape[0], 8 if count <= 8 else 16), np.int32)
        numbers = np.arange(view.learned.shape[0])[:, None]
        table[:, :count] = uniform(view, draw(view.seed, WORD, steps[None, :], numbers))
        if "words" not in view.cache:
            view.cache["words"] = _assigned(view)
        words = view.cache["words"]
        if list(view.parts) == ["neighbour"]:
            return of_nodes(view, in_blocks(view, words.shape[0], lambda lo, hi: table[words[lo:hi]]))
        indptr = view.owned.indptr
        return EdgeKeys(lambda lo, hi: table[words[indptr[lo] : indptr[hi]], :count].astype(np.int64))


def _assigned(view: View) -> Array:
    """The word of every slot; of every neighbour where its attributes alone are hashed."""
    assert view.learned is not None
    module = view.runtime.module
    blocks, read = row_blocks(view, module.SEARCH_ROWS)
    out = view.runtime.zeros(blocks[-1][1] if blocks else 0, np.int32)
    if out.size and not view.learned.size:
        raise GraphError("the codebook has no words, for it was fitted on a graph without edges; fit it on another")
    nearest = module.searcher(view.learned)

    def one(i: int, _: int) -> None:
        lo, hi = blocks[i]
        nearest(read(lo, hi), out[lo:hi])

    view.runtime.spread(len(blocks), one, 1)
    if list(view.parts) == ["neighbour"]:
        part = view.parts["neighbour"]
        index = part.index
        return out if index is None else in_blocks(view, index.shape[0], lambda lo, hi: out[index[lo:hi]])
    return out


def _distinct(view: View) -> tuple[Array, int]:
    """The distinct rows, at most MOST of them, in an order that depends on nothing but what they hold; how many rows.

    Those with the smallest names: as good as a random sample, and blocks of rows can be looked at in any order.
    """
    blocks, read = row_blocks(view)
    sample, lock = _Smallest(width(view)), Lock()

    def one(i: int, _: int) -> None:
        rows = read(*blocks[i])
        names = _names(rows, view.seed)
        with lock:
            sample.add(names, rows)

    view.runtime.spread(len(blocks), one, 1)
    nodes = view.parts["neighbour"].index if list(view.parts) == ["neighbour"] else None  # of few categories
    return sample.rows(), nodes.shape[0] if nodes is not None else blocks[-1][1] if blocks else 0


class _Smallest:
    """The rows with the MOST smallest names that have come by, each once."""

    def __init__(self, width: int) -> None:
        self.names, self.kept = [np.zeros(0, np.uint64)], [np.zeros((0, width), np.int16)]
        self.limit, self.size = np.uint64(2**64 - 1), 0

    def add(self, names: Array, rows: Array) -> None:
        near = names <= self.limit
        self.names.append(names[near])
        self.kept.append(rows[near])
        self.size += self.names[-1].shape[0]
        if self.size > 2 * MOST:
            self._compress()

    def _compress(self) -> None:
        names, first = np.unique(np.concatenate(self.names), return_index=True)
        self.names, self.kept = [names[:MOST]], [np.concatenate(self.kept)[first[:MOST]]]
        self.size = self.names[0].shape[0]
        if self.size == MOST:
            self.limit = self.names[0][-1]

    def rows(self) -> Array:
        self._compress()
        return np.ascontiguousarray(self.kept[0])


def _names(rows: Array, seed: int) -> Array:
    """A number of 64 bits for each row, the same for the same content."""
    factors = draw(seed, SAMPLE, np.arange(rows.shape[1])) | np.uint64(1)
    names = np.zeros(rows.shape[0], np.uint64)
    with np.errstate(over="ignore"):
        for j in range(rows.shape[1]):
            names += rows[:, j].astype(np.int64).view(np.uint64) * factors[j]
    return mix64(names)
