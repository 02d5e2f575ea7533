"""Where ids are checked: whole numbers from 0 up to the number of nodes; errors name the file, column and row."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lsprune.errors import FormatError, GraphError
from lsprune.files.columns import Place, row
from lsprune.graph import Array

MAP_IDS = "; prune --stream --map-ids (map_ids of prune_stream) numbers such ids 0..N-1"
_MAX_NODES = 1 << 63  # ids are int64


def check_ids(array: Array, name: str, path: Path, place: Place = row, *, limit: int | None = None) -> Array:
    """Return the array, which holds whole numbers in [0, limit) in one dimension; raise where it does not."""
    check_id_type(array, name, path)
    if not array.size:
        return array
    bound = _MAX_NODES if limit is None else limit
    # Seen as unsigned, a negative id is a huge one: one pass finds both faults.
    largest = int(array.view(array.dtype.str.replace("i", "u")).max())
    if largest < bound and largest <= np.iinfo(array.dtype).max:
        return array
    if array.dtype.kind == "u" and largest >= _MAX_NODES:
        raise FormatError(f"{path}: column {name!r}, {place(int(array.argmax()))}: id {largest} exceeds 63 bits")
    negative = int(array.min()) < 0
    first = int(np.flatnonzero(array < 0 if negative else array >= bound)[0])
    allowed = ">= 0" if negative else f"in [0, {bound})"
    raise GraphError(f"{path}: column {name!r}, {place(first)}: ids must be {allowed}, got {int(array[first])}")


def check_id_type(array: Array, name: str, path: Path) -> None:
    """Raise FormatError unless an array has one dimension and, if it is not empty, holds integers."""
    if array.ndim != 1:
        raise FormatError(f"{path}: column {name!r} must have one dimension, got shape {list(array.shape)}")
    if array.dtype.kind not in "iu" and array.size:
        raise FormatError(f"{path}: column {name!r} must be integers, got {array.dtype}")


def far_error(largest: int, edges: int, where: str) -> FormatError:
    """Return the error for an id that is far beyond the number of edges; `where` names file, column and row."""
    return FormatError(
        f"{where}: id {largest} is far beyond the {edges} edges; number the nodes 0..N-1 (prune --stream "
        "--map-ids, or map_ids of prune_stream, does that), or give num_nodes if it is meant"
    )
