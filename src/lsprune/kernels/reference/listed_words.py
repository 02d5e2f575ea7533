"""A near codebook word for each row, searched for in a few lists of words; nearly always the nearest."""

from __future__ import annotations

from collections.abc import Callable

from lsprune.graph import Array

MAX_LISTS = 1 << 8  # that a search can put in order


def listed_words(
    rows: Array, coarse: Array, words: Array, start: Array, radius: Array, max_lists: int, out: Array
) -> None:
    """Set out[i] to the nearest word of row i in the lists that are searched, the first of several.

    Lists are searched in the order of the distance of their coarse words from the row, at most `max_lists`, until the
    nearest word is not farther than its radius. All distances are squared.

    Args:
        coarse: `[lists, dim]` a word for each list, at most MAX_LISTS.
        words: `[words, dim]` list after list. start: `[lists + 1]` where each list begins; none is empty.
        radius: `[words]` distance that is near enough to end the search.
    """
    for i, row in enumerate(rows.tolist()):
        away = [_distance(row, word) for word in coarse.tolist()]
        nearest, least = -1, 0
        for number in sorted(range(len(away)), key=away.__getitem__)[:max_lists]:
            for word in range(start[number], start[number + 1]):
                distance = _distance(row, words[word].tolist())
                if nearest < 0 or distance < least:
                    nearest, least = word, distance
            if least <= radius[nearest]:
                break
        out[i] = nearest


def _distance(row: list[int], word: list[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(row, word, strict=True))


def list_searcher(
    coarse: Array, words: Array, start: Array, radius: Array, max_lists: int
) -> Callable[[Array, Array], None]:
    """Return a function of (rows, out) that fills `out` as `listed_words` does."""
    return lambda rows, out: listed_words(rows, coarse, words, start, radius, max_lists, out)


def nearest_others(words: Array, start: Array, out: Array) -> None:
    """Set out[i] to the squared distance from word i to the nearest other word of its list; 0 if it is alone."""
    for first, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        listed = words[first:end].tolist()
        for i, word in enumerate(listed):
            out[first + i] = min((_distance(word, other) for j, other in enumerate(listed) if j != i), default=0)
