"""What a reader of one file format gives back, and the checks on ids that all readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

import numpy as np

from lsprune.errors import FormatError, GraphError
from lsprune.graph import Array

NAMES = (("source", "target"), ("src", "dst"), ("s", "t"), ("from", "to"))


class Content(Protocol):
    """All that a file holds, ready to be written in part."""

    def write(self, handle: BinaryIO, suffix: str, mask: Array) -> None:
        """Write the kept edges in the format of `suffix`; FormatError where that format cannot hold the content."""

    def check(self, nodes: tuple[int, ...]) -> None:
        """FormatError where it is not clear what belongs to the edges, given the number of nodes of either end."""


def row(position: int) -> str:
    """How a place in a file without lines is named: rows count from 0, as in numpy and Arrow."""
    return f"row {position}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Edges:
    """The edges of a file as arrays, either as two ends or as compressed rows."""

    content: Content
    source: Array | None = None
    target: Array | None = None
    names: tuple[str, str] = ("source", "target")
    indptr: Array | None = None
    rows: Literal["source", "target"] | None = None
    edge_attr: Any = None
    x: Any = None
    x_ends: tuple[Any, Any] = (None, None)  # of the sources and of the targets, where they are two kinds of nodes
    num_nodes: int | tuple[int, int] | None = None
    place: Callable[[int], str] = row


def choose(columns: list[str], source: str | None, target: str | None, path: Path) -> tuple[str, str]:
    """The names of the two columns with the ends of an edge."""
    refuse_twice(columns, path)
    pairs = [(source, target)] if source is not None and target is not None else list(NAMES)
    for pair in pairs:
        if pair[0] in columns and pair[1] in columns:
            return pair
    wanted = " or ".join(f"{first}, {second}" for first, second in pairs)
    raise FormatError(f"{path}: no columns {wanted} for the ends of an edge; it has {listed(columns)}")


def refuse_twice(columns: list[str], path: Path) -> None:
    """FormatError for a name that two columns have."""
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        raise FormatError(f"{path}: column {twice[0]!r} is there more than once")


def need(columns: list[str], names: tuple[str, ...], path: Path | str) -> None:
    """Nothing; raises where one of the asked columns is missing."""
    for name in names:
        if name not in columns:
            raise FormatError(f"{path}: no column {name!r}; it has {listed(columns)}")


def ids(array: Array, name: str, path: Path, place: Callable[[int], str] = row) -> Array:
    """The array, which holds whole numbers >= 0 in one dimension."""
    if array.ndim != 1:
        raise FormatError(f"{path}: column {name!r} must have one dimension, got shape {list(array.shape)}")
    if array.dtype.kind not in "iu" and array.size:
        raise FormatError(f"{path}: column {name!r} must be integers, got {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise FormatError(f"{path}: column {name!r}, {place(int(array.argmax()))}: id {array.max()} exceeds 63 bits")
    if array.size and int(array.min()) < 0:
        first = int(np.flatnonzero(array < 0)[0])
        raise GraphError(f"{path}: column {name!r}, {place(first)}: ids must be >= 0, got {int(array[first])}")
    return array


def stack(parts: list[Array]) -> Array | None:
    """The attributes `[E, d]` from single columns; one column alone stays as it is, so that a category stays one."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else np.column_stack(parts)


def listed(columns: list[str]) -> str:
    """Names as they stand in a message, the first twelve of them."""
    shown = ", ".join(map(repr, columns[:12]))
    return f"{shown} and {len(columns) - 12} more" if len(columns) > 12 else shown or "none"
