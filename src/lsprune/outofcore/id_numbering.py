"""Numbers 0..N-1 for ids of any kind, in the order in which the ids are added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from lsprune.files.text_numbers import TextNumbers
from lsprune.graph import Array
from lsprune.kernels import Runtime

_CHUNK_ROWS = 1 << 20  # ids that are listed at a time


class Numbering(ABC):
    """The number of each id; an id gets the next free number when it is added."""

    kind: Any  # Arrow type of the ids

    @abstractmethod
    def add(self, ids: Any) -> None:
        """Number the new ones among these ids (Arrow), in their order."""

    @abstractmethod
    def number(self, *columns: Any) -> tuple[Array, ...]:
        """Number the new ones among the ids of one or two columns (Arrow), row by row; return all numbers `[n]`."""

    @abstractmethod
    def find(self, ids: Any) -> Array | None:
        """Return the numbers `[n]` int64 of ids (Arrow); None if an id has no number."""

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
    """Numbers of strings, in a hash table."""

    def __init__(self, kind: Any, runtime: Runtime | None = None) -> None:
        self.kind, self._texts = kind, TextNumbers(runtime)

    def add(self, ids: Any) -> None:
        """Number new strings."""
        self._texts.number(ids)

    def number(self, *columns: Any) -> tuple[Array, ...]:
        """Number new strings, row by row; return the numbers of each column."""
        return self._texts.number(*columns)

    def find(self, ids: Any) -> Array | None:
        """Return the numbers of strings."""
        numbers = self._texts.find(ids)
        return None if numbers.size and numbers.min() < 0 else numbers

    def chunks(self) -> Iterator[Any]:
        """Yield the strings in the order of their numbers."""
        for lo in range(0, len(self), _CHUNK_ROWS):
            yield self._texts.texts(lo, min(lo + _CHUNK_ROWS, len(self))).cast(self.kind)

    def __len__(self) -> int:
        return len(self._texts)

    def memory(self) -> int:
        """Return the bytes of the hash table and of the strings."""
        return self._texts.memory()


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

    def number(self, *columns: Any) -> tuple[Array, ...]:
        """Number new integers, row by row; return the numbers of each column."""
        import pyarrow as pa

        rows = np.stack([column.to_numpy() for column in columns], axis=1)  # s0 t0 s1 t1 ...
        coded = pa.array(rows.reshape(-1)).dictionary_encode()
        self.add(coded.dictionary)
        numbers = self._search(coded.dictionary.to_numpy())[coded.indices.to_numpy()].reshape(rows.shape)
        return tuple(numbers.T)

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
