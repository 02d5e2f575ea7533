"""Rows of arrays as byte strings, the form in which attributes and keys are shuffled.

A column of arrays would cost Spark one step for each entry, and a column for each number would cost eight bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lsprune.graph import Array
from lsprune.spark.columns import AttributeColumns

_MAX_BINARY_BYTES = 1 << 31  # of an Arrow column with 32-bit offsets


@dataclass(frozen=True)
class PackedAttributes:
    """Attribute rows as byte strings: float32, or one int64 for a category."""

    attributes: AttributeColumns
    is_category: bool

    def pack(self, table: pa.Table) -> pa.Array:
        """Return the attributes of a table, packed."""
        values = self.attributes.read(table)
        rows = values.reshape(values.shape[0], -1)
        with np.errstate(over="ignore"):
            return pack_rows(rows.astype(np.int64 if self.is_category else np.float32))

    def unpack(self, column: pa.ChunkedArray) -> Array:
        """Return packed attributes as an array `[n, d]`."""
        return unpack_rows(column, np.int64 if self.is_category else np.float32)


def pack_rows(rows: Array) -> pa.Array:
    """Return each row of an array as a byte string."""
    rows = np.ascontiguousarray(rows)
    count, width = rows.shape[0], rows.shape[1] * rows.itemsize
    offsets = np.arange(count + 1, dtype=np.int64) * width
    if offsets[-1] >= _MAX_BINARY_BYTES:
        return pa.array([row.tobytes() for row in rows], pa.binary())
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(rows.reshape(-1).view(np.uint8))]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def unpack_rows(column: pa.ChunkedArray, dtype: Any) -> Array:
    """Return packed rows of one width as an array `[n, d]`; rows that are null are left out."""
    count = len(column) - column.null_count
    return _joined_bytes(column).view(dtype).reshape(count, -1) if count else np.empty((0, 0), dtype)


def pack_lists(begins: Array, numbers: Array) -> pa.Array:
    """Return lists of int64 as byte strings, from where each begins `[n + 1]` and all their numbers."""
    data = pa.py_buffer(np.ascontiguousarray(numbers, dtype=np.int64))
    offsets = pa.py_buffer((begins * 8).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), begins.shape[0] - 1, [None, offsets, data])


def unpack_lists(column: pa.ChunkedArray) -> tuple[Array, Array]:
    """Return where each packed row of int64 begins, `[n + 1]`, and all their numbers, one after the other."""
    sizes = [pc.binary_length(chunk).to_numpy(zero_copy_only=False) for chunk in column.chunks]
    begins = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]), dtype=np.int64) // 8
    return begins, _joined_bytes(column).view(np.int64)


def unpack_keys(column: pa.ChunkedArray, steps: int) -> Array:
    """Return packed keys `[n, steps]`. Those of a block of nodes are int32 if they fit, so row widths may differ."""
    raw, count = _joined_bytes(column), len(column)
    if raw.shape[0] == 4 * steps * count:
        return raw.view(np.int32).reshape(count, steps)
    if raw.shape[0] == 8 * steps * count:
        return raw.view(np.int64).reshape(count, steps)
    ends = np.cumsum([len(row) for row in column.to_pylist()])
    key_bytes = np.diff(ends, prepend=0) // steps
    rows = (raw[end - size * steps : end].view(f"i{size}") for end, size in zip(ends, key_bytes, strict=True))
    return np.array([row.astype(np.int64) for row in rows])


def _joined_bytes(column: pa.ChunkedArray) -> Array:
    """Return all bytes of a column of byte strings, one after the other."""
    parts = []
    for chunk in column.chunks:
        offset_type = np.int64 if pa.types.is_large_binary(chunk.type) else np.int32
        offsets = np.frombuffer(chunk.buffers()[1], offset_type)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = chunk.buffers()[2]
        if len(chunk) and data is not None:
            parts.append(np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]])
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)
