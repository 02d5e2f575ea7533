"""Node attributes from a file: `.npy`, `.npz`, `.parquet`, `.csv` or `.tsv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprune.errors import FormatError, OptionError
from lsprune.files.columns import need, stack
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_columns import node_suffix, read_columns
from lsprune.files.node_table import (
    CHOOSE,
    NO_FEATURE,
    WHOLE_IDS,
    NodeColumns,
    NodeRows,
    id_column,
    is_id_name,
    node_columns,
    place_rows,
)
from lsprune.files.npy import read_npy, read_npz
from lsprune.files.sparse_matrix import is_matrix, to_matrix
from lsprune.graph import Array


def read(
    path: Path,
    id: str | None = None,
    x: Sequence[str] = (),
    memory: MemoryBudget | None = None,
    skip: Sequence[str] = (),
) -> NodeRows:
    """Return node attributes: a memory map from `.npy`, dense or scipy.sparse from `.npz`; rows with ids in place.

    Args:
        id, x: names of the column (or array) of ids, and of those of features, as in `lsprune.files.node_table`.
        memory: what the file may take; default what is available.
        skip: names of columns that are no features unless `x` names them, such as labels.
    """
    memory = memory or MemoryBudget.of()
    suffix = node_suffix(path)
    if suffix == ".npy":
        refuse_names(path, id, x)
        return NodeRows(checked(read_npy(path), path))
    return (_from_npz if suffix == ".npz" else _from_table)(path, id, x, memory, skip)


def refuse_names(path: Path, id: str | None, x: Sequence[str]) -> None:
    """Raise OptionError for names of columns in a file that has none."""
    for option, value in (("id", id), ("x", ", ".join(x))):
        if value:
            raise OptionError(f"{option} (--{option}) must not be given for {path}, which has no columns, got {value}")


def checked(x: Any, path: Path) -> Any:
    """Return the array, which holds numbers `[N, d]` or `[N]`."""
    if x.dtype.kind not in "fiub":
        raise FormatError(f"{path}: features must be numbers, got {x.dtype}")
    if x.ndim not in (1, 2):
        raise FormatError(f"{path}: features must have shape [N, d] or [N], got {list(x.shape)}")
    return x


def array_columns(names: Sequence[str], id: str | None, x: Sequence[str], path: Path) -> NodeColumns:
    """Return what is what in a `.npz` of nodes: `x`, or the only array beside the ids, are the features."""
    need(list(names), tuple(x), path)
    named = id_column(dict.fromkeys(names), id, x, path)
    rest = list(x) or [name for name in names if name != named and not is_id_name(name)]
    rest = ["x"] if "x" in rest and not x else rest
    if not x and len(rest) != 1:
        raise FormatError(f"{path}: must hold one array or a scipy matrix, got {', '.join(rest) or 'nothing'}{CHOOSE}")
    if named in rest:
        raise OptionError(f"x (--x) must not name the array of ids, got {named!r}")
    return NodeColumns(named, tuple(rest))


def feature_arrays(arrays: Mapping[str, Array], columns: NodeColumns, path: Path) -> list[Array]:
    """Return the arrays of features in a `.npz`; FormatError unless all are numbers with a row for each node."""
    features = [checked(arrays[name], path) for name in columns.features]
    if len({array.shape[0] for array in features}) > 1:
        raise FormatError(f"{path}: the arrays {', '.join(columns.features)} must have one row for each node")
    return features


def _from_npz(path: Path, id: str | None, x: Sequence[str], memory: MemoryBudget, skip: Sequence[str]) -> NodeRows:
    arrays = read_npz(path, memory)
    if is_matrix(arrays):
        refuse_names(path, id, x)
        return NodeRows(checked(to_matrix(arrays, path), path))
    columns = array_columns([name for name in arrays if name in x or name not in skip], id, x, path)
    return _placed(feature_arrays(arrays, columns, path), arrays.get(columns.id or ""), columns, path)


def _from_table(path: Path, id: str | None, x: Sequence[str], memory: MemoryBudget, skip: Sequence[str]) -> NodeRows:
    from lsprune.files.arrow_columns import integers

    table = read_columns(path, memory)
    columns = table_columns(table, id, x, skip, path)
    features = table_features(table, columns, x, path)
    ids = None if columns.id is None else integers(table[columns.id], columns.id, path, hint=WHOLE_IDS)
    return _placed(features, ids, columns, path)


def table_columns(
    table: Mapping[str, Any], id: str | None, x: Sequence[str], skip: Sequence[str], path: Path
) -> NodeColumns:
    """Return what is what in a table of Arrow columns; those in `skip` are no features unless `x` names them."""
    from lsprune.files.arrow_columns import is_list

    kinds = {name: is_list(column.type) for name, column in table.items() if name in x or name not in skip}
    return node_columns(kinds, id, x, path)


def table_features(table: Mapping[str, Any], columns: NodeColumns, x: Sequence[str], path: Path) -> list[Array]:
    """Return the columns of features as numbers, in their order."""
    from lsprune.files.arrow_columns import numbers

    return [numbers(table[name], name, path, hint="" if x else NO_FEATURE) for name in columns.features]


def _placed(features: list[Array], ids: Array | None, columns: NodeColumns, path: Path) -> NodeRows:
    """Return the features as one array, each row in its node's place."""
    rows = checked(stack(features), path)
    return NodeRows(rows) if columns.id is None or ids is None else place_rows(rows, ids, columns.id, path)
