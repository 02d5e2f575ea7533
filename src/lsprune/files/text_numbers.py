"""Numbers of texts in Arrow columns, in the order in which the texts first appear; one hash table for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lsprune.errors import OptionError
from lsprune.graph import Array
from lsprune.kernels import Runtime

_MIN_SLOTS = 1 << 4
_MAX_TEXTS = (1 << 32) - 2  # a slot of the hash table has 32 bits for a number


class TextNumbers:
    """The number of each text; a text gets the next free number when it is first seen.

    The texts are kept side by side in one array.
    """

    def __init__(self, runtime: Runtime | None = None) -> None:
        self._module, self._count = (runtime or Runtime()).module, 0
        self._slots = np.zeros(_MIN_SLOTS, np.uint64)
        self._starts, self._store = np.zeros(2, np.int64), np.zeros(1, np.uint8)

    def __len__(self) -> int:
        return self._count

    def number(self, *columns: Any) -> tuple[Array, ...]:
        """Number the new texts of one or two Arrow arrays, row by row; return the numbers of each, `[n]` int64."""
        columns_of_bytes = tuple(map(_bytes_of, columns))
        size = sum(int(offsets[-1] - offsets[0]) for offsets, _ in columns_of_bytes)
        self._make_room(len(columns) * len(columns[0]), size)
        out = tuple(np.empty(len(column), np.int64) for column in columns)
        self._count = self._module.number_texts(
            columns_of_bytes, self._slots, self._starts, self._store, self._count, out, True
        )
        return out

    def find(self, column: Any) -> Array:
        """Return the numbers of texts, `[n]` int64; -1 where a text has none."""
        numbers = np.empty(len(column), np.int64)
        if len(column):
            self._module.number_texts(
                (_bytes_of(column),), self._slots, self._starts, self._store, self._count, (numbers,), False
            )
        return numbers

    def texts(self, lo: int, hi: int) -> Any:
        """Return the texts number lo..hi as an Arrow array of bytes."""
        import pyarrow as pa

        starts = self._starts[lo : hi + 1]
        text = self._store[starts[0] : starts[-1]]
        buffers = [None, pa.py_buffer(starts - starts[0]), pa.py_buffer(text.tobytes())]
        return pa.Array.from_buffers(pa.large_binary(), hi - lo, buffers)

    def memory(self) -> int:
        """Return the bytes of text and of where each begins, with room, and of a table that is copied when it is full.

        Room for the texts of one batch, which may all be new, comes with the batch.
        """
        slots = 1 << max(2 * self._count - 1, _MIN_SLOTS - 1).bit_length()
        return 2 * (int(self._starts[self._count]) + 8 * self._count) + 3 * 8 * slots

    def _make_room(self, rows: int, size: int) -> None:
        """Make room for so many more texts, and so many bytes in them."""
        texts, used = self._count + rows, int(self._starts[self._count])
        if texts >= _MAX_TEXTS:
            raise OptionError(f"there must be at most {_MAX_TEXTS:,} distinct ids that are text")
        for name, needed in (("_starts", texts + 2), ("_store", used + size + 1)):
            array = getattr(self, name)
            if needed > array.shape[0]:
                array.resize(max(needed, array.shape[0] * 3 // 2), refcheck=False)
        if 2 * texts > self._slots.shape[0]:
            self._slots = np.zeros(1 << int(2 * texts - 1).bit_length(), np.uint64)
            self._module.hash_texts(self._starts, self._store, self._count, self._slots)


def _bytes_of(column: Any) -> tuple[Array, Array]:
    """Return (offsets, bytes) of an Arrow array of strings or bytes."""
    import pyarrow as pa

    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    if not len(column):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    starts = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return starts, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
