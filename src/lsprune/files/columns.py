"""The columns of an edge list: which two hold the ends of an edge, and which describe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lsprune.checks import did_you_mean
from lsprune.errors import FormatError, LspruneError
from lsprune.graph import Array

END_NAMES = (("source", "target"), ("src", "dst"), ("s", "t"), ("from", "to"))
_LISTED = 12  # names shown in an error at most
Place = Callable[[int], str]  # how an error names the place of an edge: its row or its line


def row(position: int) -> str:
    """Return how an error names a row: rows count from 0, as in numpy and Arrow."""
    return f"row {position}"


def rows_from(first: int, place: Place = row) -> Place:
    """Return how an error names a position counted from the row `first`."""
    return lambda position: place(first + position)


def choose_ends(columns: Sequence[str], source: str | None, target: str | None, path: Path) -> tuple[str, str]:
    """Return the names of the two columns with the ends of an edge; FormatError if they are not there."""
    refuse_repeated(columns, path)
    pairs = [(source, target)] if source is not None and target is not None else list(END_NAMES)
    for pair in pairs:
        if pair[0] in columns and pair[1] in columns:
            return pair
    wanted = " or ".join(f"{first}, {second}" for first, second in pairs)
    missing = next((name for name in (source, target) if name is not None and name not in columns), None)
    hint = did_you_mean(missing, columns)
    raise FormatError(f"{path}: no columns {wanted} for the ends of an edge; it has {listed(columns)}{hint}")


def refuse_same_ends(source: object, target: object, error: type[LspruneError]) -> None:
    """Raise `error` if both ends of an edge are the same column."""
    if source is not None and source == target:
        raise error(f"source and target must be two columns, got {source!r} for both: every edge would be a self-loop")


def refuse_repeated(columns: Sequence[str], path: Path) -> None:
    """Raise FormatError for a name that two columns have."""
    for name, times in Counter(columns).items():
        if times > 1:
            raise FormatError(f"{path}: column {name!r} is there more than once")


def need(columns: Sequence[str], names: Sequence[str], path: Path | str) -> None:
    """Raise FormatError if one of the names is not among the columns."""
    for name in names:
        if name not in columns:
            raise FormatError(f"{path}: no column {name!r}; it has {listed(columns)}{did_you_mean(name, columns)}")


def stack(parts: Sequence[Array]) -> Array | None:
    """Return attributes `[E, d]` from single columns; one column stays as it is, so that a category stays one."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else np.column_stack(parts)


def listed(columns: Sequence[str]) -> str:
    """Return the names for an error message, the first twelve of them."""
    names = ", ".join(map(repr, columns[:_LISTED]))
    return f"{names} and {len(columns) - _LISTED} more" if len(columns) > _LISTED else names or "none"
