"""Numbers 0..N-1 for ids of any kind, in the order in which the ids are added."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from lsprune.graph import Array

_CHUNK_ROWS = 1 << 20  # ids that are listed at a time


class Numbering(ABC):
    """The number of each id; an id gets the next free number when it is added."""

    kind: Any  # Arrow type of the ids

    @abstractmethod
    def add(self, ids: Any) -> None:
        """Number the new ones among these ids (Arrow, distinct), in their order."""

    @abstractmethod
    def find(self, ids: Any) -> Array | None:
        """Return the numbers `[n]` int64 of ids (Arrow, distinct); None if an id has no number."""

    @abstractmethod
    def chunks(self) -> Iterator[Any]:
        """Yield all ids in the order of their numbers, as Arrow arrays."""

    def value(self, number: int) -> Any:
        """Return the id that has this number."""
        first = 0
        for ids in self.chunks():
            if number < first + len(ids):
                return ids[number - first].as_py()
            first += len(ids)
        raise IndexError(number)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of ids."""

    @abstractmethod
    def memory(self) -> int:
        """Return about how many bytes it uses at most when the next ids are added."""


class StringNumbering(Numbering):
    """Numbers of strings, in a dictionary."""

    def __init__(self, kind: Any) -> None:
        self.kind, self._numbers, self._text_bytes = kind, dict[Any, int](), 0

    def add(self, ids: Any) -> None:
        """Number new strings."""
        numbers, before = self._numbers, len(self._numbers)
        for text in ids.to_pylist():
            numbers.setdefault(text, len(numbers))
        mean_bytes = sys.getsizeof("") + -(-int(ids.nbytes) // max(1, len(ids)))
        self._text_bytes += mean_bytes * (len(numbers) - before)

    def find(self, ids: Any) -> Array | None:
        """Return the numbers of strings."""
        numbers = np.array([self._numbers.get(text, -1) for text in ids.to_pylist()], np.int64)
        return None if numbers.size and numbers.min() < 0 else numbers

    def chunks(self) -> Iterator[Any]:
        """Yield the strings in the order of their numbers, which is the order of the dictionary."""
        import pyarrow as pa

        texts = iter(self._numbers)
        while chunk := list(islice(texts, _CHUNK_ROWS)):
            yield pa.array(chunk, self.kind)

    def __len__(self) -> int:
        return len(self._numbers)

    def memory(self) -> int:
        """Return the bytes of text, numbers, and a hash table that is copied to twice its size when it is full."""
        return self._text_bytes + 32 * len(self) + 3 * sys.getsizeof(self._numbers)


class IntegerNumbering(Numbering):
    """Numbers of integers, in a few sorted runs, each at least twice as long as the next."""

    def __init__(self) -> None:
        import pyarrow as pa

        self.kind = pa.int64()
        self._runs: list[tuple[Array, Array]] = []  # sorted ids, and their numbers
        self._count = 0

    def add(self, ids: Any) -> None:
        """Number new integers."""
        values = ids.to_numpy()
        new = values[self._search(values) < 0]
        if new.size == 0:
            return
        order = np.argsort(new, kind="stable")
        self._runs.append((new[order], self._count + order))
        self._count += new.size
        while len(self._runs) > 1 and self._runs[-2][0].size < 2 * self._runs[-1][0].size:
            first, second = self._runs.pop(), self._runs.pop()
            values, numbers = (np.concatenate(pair) for pair in zip(first, second, strict=True))
            order = np.argsort(values, kind="stable")
            self._runs.append((values[order], numbers[order]))

    def find(self, ids: Any) -> Array | None:
        """Return the numbers of integers."""
        numbers = self._search(ids.to_numpy())
        return None if numbers.size and numbers.min() < 0 else numbers

    def chunks(self) -> Iterator[Any]:
        """Yield the integers in the order of their numbers."""
        import pyarrow as pa

        ordered = np.empty(self._count, np.int64)
        for values, numbers in self._runs:
            ordered[numbers] = values
        for lo in range(0, self._count, _CHUNK_ROWS):
            yield pa.array(ordered[lo : lo + _CHUNK_ROWS])

    def __len__(self) -> int:
        return self._count

    def memory(self) -> int:
        """Return the bytes of ids and numbers, and of their order and their copy while runs are merged."""
        return 5 * 8 * self._count

    def _search(self, values: Array) -> Array:
        """Return the number of each value; -1 for a new one."""
        order = np.argsort(values)  # searches in order find their keys in the cache
        values = values[order]
        result = np.full(values.shape[0], -1, np.int64)
        for keys, numbers in self._runs:
            at = np.minimum(np.searchsorted(keys, values), keys.size - 1)
            hit = keys[at] == values
            result[order[hit]] = numbers[at[hit]]
        return result
