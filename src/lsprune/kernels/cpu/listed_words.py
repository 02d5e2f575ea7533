"""A near codebook word for each row, searched for in a few lists of words; nearly always the nearest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lsprune.graph import Array
from lsprune.kernels.cpu.jit import kernel
from lsprune.kernels.cpu.word_products import LANES, packed, packed_rows, word_scores

MAX_LISTS = 1 << 8  # that the low bits of a key tell apart
_LEAST = -(2**31)


@kernel
def listed_words(rows, norms, coarse, coarse_bias, words, bias, first, start, radius, max_lists, out):
    """Set out[i] as `reference.listed_words` does.

    A key of a list is the score of its coarse word (see `word_products`), then its number from the end: keys differ,
    and the largest below the last one is the next list. Scores of rows of 128 columns leave eight bits free.
    """
    lists, quads = start.shape[0] - 1, words.shape[1]
    keys = np.empty(coarse.shape[0] * LANES, np.int32)
    scores = np.empty(np.diff(first).max() * LANES, np.int32)
    for i in range(rows.shape[0]):
        word_scores(rows, i, quads, coarse, coarse_bias, 0, coarse.shape[0], keys)
        for number in range(lists):
            keys[number] = keys[number] * MAX_LISTS + (MAX_LISTS - 1 - number)
        key, best, word = np.int32(2**31 - 1), np.int32(_LEAST), 0
        for _ in range(min(max_lists, lists)):
            key = next_key(keys[:lists], key)
            number = MAX_LISTS - 1 - (key & (MAX_LISTS - 1))
            blocks = first[number + 1] - first[number]
            word_scores(rows, i, quads, words, bias, first[number], blocks, scores)
            top = largest(scores[: blocks * LANES])
            if top > best:
                best, word = top, start[number] + first_place(scores[: blocks * LANES], top)
            if norms[i] - best <= radius[word]:
                break
        out[i] = word


@kernel
def next_key(keys, last):
    """Return the largest key below `last`."""
    top = np.int32(_LEAST)
    for i in range(keys.shape[0]):
        top = max(top, keys[i] if keys[i] < last else np.int32(_LEAST))
    return top


@kernel
def largest(values):
    """Return the largest value."""
    top = np.int32(_LEAST)
    for i in range(values.shape[0]):
        top = max(top, values[i])
    return top


@kernel
def first_place(values, value):
    """Return the first place of a value, without a branch, as vectors allow."""
    place = np.int32(values.shape[0])
    for i in range(values.shape[0]):
        place = min(place, np.int32(i) if values[i] == value else np.int32(2**31 - 1))
    return place


@kernel
def other_words(rows, norms, words, bias, first, start, out):
    """Set out[i] as `reference.nearest_others` does; `rows` are the words, packed as rows."""
    scores = np.empty(np.diff(first).max() * LANES, np.int32)
    for number in range(start.shape[0] - 1):
        blocks = first[number + 1] - first[number]
        for word in range(start[number], start[number + 1]):
            word_scores(rows, word, words.shape[1], words, bias, first[number], blocks, scores)
            scores[word - start[number]] = _LEAST
            alone = start[number + 1] - start[number] == 1
            out[word] = 0 if alone else norms[word] - largest(scores[: blocks * LANES])


def list_searcher(
    coarse: Array, words: Array, start: Array, radius: Array, max_lists: int
) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` as `reference.listed_words` does."""
    listed, first = _packed_lists(words, start)
    tables = (*packed(coarse), *listed)

    def search(rows: Array, out: Array) -> None:
        listed_words(packed_rows(rows), _norms(rows), *tables, first, start, radius, max_lists, out)

    return search


def nearest_others(words: Array, start: Array, out: Array) -> None:
    """Set out[i] to the squared distance from word i to the nearest other word of its list; 0 if it is alone."""
    listed, first = _packed_lists(words, start)
    other_words(packed_rows(words), _norms(words), *listed, first, start, out)


def _packed_lists(words: Array, start: Array) -> tuple[tuple[Array, Array], Array]:
    """Return the words and their bias in blocks, and the first block of each list: every list begins a new one."""
    sizes = np.diff(start)
    first = np.append(0, np.cumsum(-(-sizes // LANES)))
    places = np.arange(words.shape[0]) + np.repeat(first[:-1] * LANES - start[:-1], sizes)
    return packed(words, places, int(first[-1])), first


def _norms(rows: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.int32))
