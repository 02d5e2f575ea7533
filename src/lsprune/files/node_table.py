"""Tables of nodes: which column holds the ids, which are features, and rows put in their node's place.

One rule for reading in memory, streaming and Spark. The column of ids is the one that the caller names, else `id` (or
`node_id`, `node`); rows are then joined to the edges by it. A table without one has row i for node i; where a column
such as `user_id` might be one, the caller is asked to say so. Features are the columns that the caller names, else `x`
if it holds vectors, else all columns but ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError, GraphError, OptionError
from lsprune.files.columns import listed, need, row
from lsprune.files.ids import check_ids
from lsprune.graph import Array
from lsprune.graph_arrays import is_far

ID_NAMES = ("id", "node_id", "node")
_SUSPECT = re.compile(r"[_\-. ]id$|[a-z]I[dD]$", re.ASCII)  # user_id, itemId
CHOOSE = "; --x (x in Python) names the columns of features"
WHOLE_IDS = "; the ids of edges are whole numbers"
NO_FEATURE = "; --label or --split names it if it is no feature, --x (x in Python) names the features"


@dataclass(frozen=True)
class NodeColumns:
    """What is what in a table of nodes."""

    id: str | None  # None: row i is node i
    features: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class NodeRows:
    """Node attributes with a row for each node."""

    x: Any  # [N, d] or [N], dense or scipy.sparse; a node that the table does not name has a copy of its first row
    known: Array | None = None  # [N] bool: the nodes that the table names; None: all of them
    joined: bool = False  # by a column of ids


def is_id_name(name: str) -> bool:
    """Return whether a column of this name holds ids, and so is no feature unless the caller says so."""
    return name.lower() in ID_NAMES


def node_columns(columns: Mapping[str, bool], id: str | None, x: Sequence[str], path: Path | str) -> NodeColumns:
    """Return what is what in a table of nodes.

    Args:
        columns: the names, and whether each holds a vector in every row.
        id, x: names that the caller gave: the column of ids, and those of features.
        path: how errors call the table.
    """
    need(list(columns), tuple(x), path)
    named = id_column(columns, id, x, path)
    if named is not None and named in x:
        raise OptionError(f"x (--x) must not name the column of ids, got {named!r}")
    if x:
        return NodeColumns(named, tuple(x))
    rest = [name for name in columns if name != named and not is_id_name(name)]
    features = ("x",) if "x" in rest and columns["x"] else tuple(rest)
    if not features:
        raise FormatError(f"{path}: has no columns of features, only {listed(list(columns))}{CHOOSE}")
    return NodeColumns(named, features)


def id_column(columns: Mapping[str, Any], id: str | None, x: Sequence[str], path: Path | str) -> str | None:
    """Return the column of ids: the one that the caller names, else one with a usual name that is no feature; or None.

    Raise FormatError if a column may well hold ids and nobody said so; the name "" says that there are none.
    """
    if id is not None:
        need(list(columns), (id,) if id else (), path)
        return id or None
    usual = [name for name in columns if is_id_name(name) and name not in x]
    if len(usual) > 1:
        raise FormatError(
            f"{path}: several columns may hold ids: {listed(usual)}; choose one with --id (id= in Python)"
        )
    suspects = [name for name in columns if _SUSPECT.search(name) and name not in x]
    if suspects and not usual:
        raise FormatError(
            f"{path}: column {suspects[0]!r} looks like ids; --id {suspects[0]} (id in Python) joins rows by it, "
            f"--x names it as a feature, --id '' says that row i is node i"
        )
    return usual[0] if usual else None


def check_node_ids(ids: Array, name: str, path: Path) -> Array:
    """Return the ids of a table of nodes: whole numbers >= 0, each there once and not far beyond their number."""
    ids = check_ids(ids, name, path)
    ordered = np.sort(ids)
    if bool((ordered[1:] == ordered[:-1]).any()):
        twice = ordered[1:][ordered[1:] == ordered[:-1]][0]
        raise twice_error(path, twice, int(np.count_nonzero(ordered == twice)))
    if ids.size:
        check_far(int(ordered[-1]), ids.size, name, path)
    return ids


def twice_error(path: Path | str, id: Any, count: int) -> GraphError:
    """Return the error for a node that a table names more than once."""
    return GraphError(f"{path}: ids of nodes must be unique, got {id} {count} times")


def check_far(largest: int, rows: int, name: str, path: Path) -> None:
    """Raise FormatError if an array as long as the largest id would be far larger than the table."""
    if is_far(largest, rows):
        raise FormatError(
            f"{path}: column {name!r}: id {largest} is far beyond the {rows} rows; number the nodes 0..N-1 in edges "
            "and nodes (prune --stream --map-ids, or map_ids in Python, does that)"
        )


def place_rows(x: Any, ids: Array, name: str, path: Path) -> NodeRows:
    """Return the rows of a table in the places that its ids name."""
    ids = check_node_ids(ids, name, path)
    if ids.size != x.shape[0]:
        raise FormatError(f"{path}: column {name!r} must have {x.shape[0]} ids, one for each row, got {ids.size}")
    count = int(ids.max()) + 1 if ids.size else 0
    if count == ids.size and np.array_equal(ids, np.arange(count)):
        return NodeRows(x, joined=True)
    if hasattr(x, "tocsr"):
        raise FormatError(f"{path}: a scipy matrix must have row i for node i; sort its rows by {name!r}")
    known = np.zeros(count, bool)
    known[ids] = True
    placed = np.empty((count, *x.shape[1:]), x.dtype)
    placed[ids] = x
    placed[~known] = x[:1]  # values of the right kind; nobody looks at them
    return NodeRows(placed, None if count == ids.size else known, joined=True)


def row_order(ids: Array, name: str, path: Path) -> Array:
    """Return the order of rows that puts node i in row i, for tables that must name every node."""
    ids = check_node_ids(ids, name, path)
    if ids.size and int(ids.max()) != ids.size - 1:
        missing = int(np.flatnonzero(~np.isin(np.arange(ids.size), ids))[0])
        raise FormatError(
            f"{path}: column {name!r} must name each of the nodes 0 to {ids.size - 1} once, got {int(ids.max())} and "
            f"no {missing}; number the nodes 0..N-1 in edges and nodes"
        )
    return np.argsort(ids)


def check_positions(arrays: Mapping[str, Array], x: Any, path: Path) -> None:
    """Raise FormatError for an array of ids beside `x` in a file of edges that is not 0, 1, 2, .."""
    for name in arrays:
        ids = arrays[name]
        if is_id_name(name) and ids.shape == x.shape[:1] and not _in_order(ids):
            raise FormatError(f"{path}: array {name!r} must be 0, 1, 2, ..: row i of x is node i; sort x by it")


def _in_order(ids: Array, block: int = 1 << 20) -> bool:
    spans = range(0, ids.shape[0], block)
    return ids.dtype.kind in "iu" and all(
        np.array_equal(ids[lo : lo + block], np.arange(lo, min(lo + block, ids.shape[0]))) for lo in spans
    )


def check_ends(ids: Array, name: str, rows: NodeRows, count: int, path: Path | str, place: Any = row) -> None:
    """Raise GraphError for an edge whose end is not among the nodes of a table."""
    beyond = ids.size and int(ids.max()) >= count
    if not beyond and (rows.known is None or bool(rows.known[ids].all())):
        return
    wrong = ids >= count if beyond else ~np.asarray(rows.known)[ids]
    first = int(np.flatnonzero(wrong)[0])
    inside = f", in [0, {count})" if rows.known is None else ""
    raise GraphError(
        f"{path}: column {name!r}, {place(first)}: ids in edges must be among the nodes{inside}, got {int(ids[first])}"
    )
