"""Ids of any kind as node numbers that depend on the set of ids alone, not on the order of the rows.

Small whole numbers are node numbers already. Other whole numbers, and all other ids, are numbered in the order of a
64-bit id: the whole number itself, or a hash of the id's bytes. Ties and remainders go by that 64-bit id.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from lsprune.adapters.tables.columns import describe_kind, refuse_missing
from lsprune.errors import GraphError
from lsprune.files.text_numbers import TextNumbers
from lsprune.graph import Array
from lsprune.graph_arrays import is_far
from lsprune.numeric.random_numbers import mix64

_CHUNK_ROWS = 1 << 20  # ids that are numbered at a time


@dataclass(frozen=True, eq=False)
class NumberedNodes:
    """Nodes by number.

    Args:
        count: number of nodes. numbers: one array of node numbers for each column that was numbered.
        ids: [count] int64, what ties go by; None: the number itself.
        values: the ids of the nodes, by number; None: the number itself.
    """

    count: int
    numbers: tuple[Array, ...]
    ids: Array | None = None
    values: Any = None

    def value(self, number: int) -> Any:
        """Return the id of a node, for messages."""
        value = number if self.values is None else self.values[number]
        if hasattr(value, "as_py"):
            return value.as_py()
        return value.item() if isinstance(value, np.generic) else value


def number_nodes(columns: dict[Any, Any], *, compact: bool = False) -> NumberedNodes:
    """Number the ids in some columns, which must be of one kind: whole numbers, text, bytes, dates, or any objects.

    Args:
        columns: by name, for messages: Arrow arrays, or numpy arrays of Python objects.
        compact: number only the ids that occur, also if they are small whole numbers.
    """
    for name, column in columns.items():
        refuse_missing(column, name)
    if any(isinstance(column, np.ndarray) for column in columns.values()):
        return _number_objects([_objects(column) for column in columns.values()])
    kinds = {name: _kind(column, name) for name, column in columns.items() if len(column)}
    if len(set(kinds.values())) > 1:
        names = ", ".join(f"{name} has {describe_kind(columns[name])}" for name in kinds)
        raise GraphError(f"the ids of both ends of an edge must be of one kind: {names}")
    if set(kinds.values()) <= {"whole numbers"}:
        return _number_integers([_integers(column) for column in columns.values()], compact)
    return _number_text(list(columns.values()))


def _kind(column: Any, name: str) -> str:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_floating(kind):
        values = column.to_numpy()
        if np.all(values == np.floor(values)) and np.all(np.abs(values) < 2.0**53):
            return "whole numbers"  # as pandas stores whole numbers of which some were missing
        raise GraphError(
            f"column {name!r} must hold ids, got numbers that are not whole, such as {_first_broken(values)}"
        )
    if pa.types.is_nested(kind) or pa.types.is_boolean(kind):
        raise GraphError(f"column {name!r} must hold ids, got {kind}")
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return "bytes" if binary else "text" if _is_text(kind) else str(kind)


def _first_broken(values: Array) -> float:
    return float(values[np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= 2.0**53))[0]])


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    is_view = getattr(pa.types, "is_string_view", lambda kind: False)  # from PyArrow 16 on
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind))


def _integers(column: Any) -> Array:
    values = np.asarray(column.to_numpy())
    if values.dtype.kind == "u" and values.size and int(values.max()) >= 1 << 63:
        raise GraphError(f"ids must be below 2^63, got {int(values.max())}")
    return values.astype(np.int64)


def _number_integers(columns: list[Array], compact: bool) -> NumberedNodes:
    rows = max((column.shape[0] for column in columns), default=0)
    lowest = min((int(column.min()) for column in columns if column.size), default=0)
    highest = max((int(column.max()) for column in columns if column.size), default=-1)
    if lowest >= 0 and not is_far(highest, rows) and not compact:
        return NumberedNodes(highest + 1, tuple(columns))
    ids, places = np.unique(np.concatenate(columns), return_inverse=True)
    return NumberedNodes(ids.shape[0], _cut(places, columns), ids, ids)


def _number_text(columns: list[Any]) -> NumberedNodes:
    import pyarrow as pa

    kinds = [pa.large_string() if _is_text(column.type) else _bytes_type(column.type) for column in columns]
    numbers, found = TextNumbers(), [np.empty(0, np.int64)]
    for column, kind in zip(columns, kinds, strict=True):
        for chunk in column.chunks:
            for lo in range(0, len(chunk), _CHUNK_ROWS):
                found += numbers.number(chunk[lo : lo + _CHUNK_ROWS].cast(kind))
    values = numbers.texts(0, len(numbers)).cast(kinds[0])
    hashes = hash_bytes(values)
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(order.shape[0], np.int64)
    rank[order] = np.arange(order.shape[0])
    places = rank[np.concatenate(found)]
    return NumberedNodes(len(values), _cut(places, columns), hashes[order], values.take(pa.array(order)))


def _bytes_type(kind: Any) -> Any:
    """Return the type that ids are hashed as: bytes stay bytes, dates and the like become text."""
    import pyarrow as pa

    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return pa.large_binary() if binary else pa.large_string()


def hash_bytes(values: Any) -> Array:
    """Return a 63-bit hash of each text or bytes value of an Arrow array, `[n]` int64: equal on every machine.

    >>> import pyarrow as pa
    >>> hash_bytes(pa.array(["a"])).tolist() == hash_bytes(pa.array([b"a"])).tolist()
    True
    """
    import pyarrow as pa

    values = values.cast(pa.large_binary())
    _, offsets, data = values.buffers()
    starts = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    size = int(starts[-1]) if len(values) else 0
    padded = np.zeros(size + 8, np.uint8)
    if size:
        padded[:size] = np.frombuffer(data, np.uint8, size)
    words = np.ndarray((size + 1,), "<u8", padded.data, strides=(1,))  # eight bytes from every place on
    lengths = np.diff(starts)
    hashes = mix64(lengths.astype(np.uint64))
    step = 0
    while (active := np.flatnonzero(lengths > step)).size:
        word = words[starts[active] + step].astype(np.uint64)
        left = np.minimum(lengths[active] - step, 8).astype(np.uint64)
        word &= np.uint64(2**64 - 1) >> (np.uint64(64) - np.uint64(8) * left)
        hashes[active] = mix64(hashes[active] ^ word)
        step += 8
    return (hashes >> np.uint64(1)).astype(np.int64)


def _objects(column: Any) -> list[Any]:
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _number_objects(columns: list[list[Any]]) -> NumberedNodes:
    """Number Python objects that can be keys of a dict; they are hashed by type and repr."""
    number: dict[Any, int] = {}
    try:
        codes = np.array([number.setdefault(value, len(number)) for column in columns for value in column], np.int64)
    except TypeError as error:
        raise GraphError(f"ids must be hashable: {error}") from None
    values = list(number)
    digests = [hashlib.blake2b(f"{type(v).__qualname__} {v!r}".encode(), digest_size=8).digest() for v in values]
    hashes = np.array([int.from_bytes(digest, "little") >> 1 for digest in digests], np.int64)
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(order.shape[0], np.int64)
    rank[order] = np.arange(order.shape[0])
    places = rank[codes] if codes.size else codes
    return NumberedNodes(len(values), _cut(places, columns), hashes[order], [values[place] for place in order])


def _cut(places: Array, columns: list[Any]) -> tuple[Array, ...]:
    return tuple(np.split(places.reshape(-1), np.cumsum([len(column) for column in columns])[:-1]))
