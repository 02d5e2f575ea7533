"""Labels of nodes from files: arrays of the `.npz` that holds the edges, or columns of the table of nodes.

Only training labels are ever looked at (`weights="labels"`). Labels are numbers or strings; a missing one (null, the
empty string, NaN, a negative class) makes a node one without a label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.errors import FormatError, OptionError
from lsprune.files.edge_options import EdgeOptions, TableOptions
from lsprune.files.memory_budget import MemoryBudget
from lsprune.files.node_table import id_column, place_rows
from lsprune.files.npy import read_npz
from lsprune.graph import UNUSABLE_MASK, Array, Graph

DEFAULTS = {"y": "y", "train_mask": "train_mask"}  # names of the arrays beside the edges that are used if they fit
TRAINING = "train"  # what a column of strings calls a training node


def with_labels(
    graph: Graph, options: EdgeOptions, arrays: Mapping[str, Array], path: Path, memory: MemoryBudget
) -> Graph:
    """Return the graph with labels and the mask of its training nodes, as far as there are any.

    Args:
        arrays: those of the file of edges, `path`; none if it is a table.
    """
    named = {"y": options.label, "train_mask": options.train_mask}
    columns: dict[str, Any] = {}
    for field, name in named.items():
        if name is None:
            default = arrays.get(DEFAULTS[field])
            if default is not None and default.shape[:1] == (graph.num_nodes,) and not graph.bipartite:
                columns[field] = default
        elif name in arrays:
            columns[field] = arrays[name]
        else:
            columns[field] = _from_table(options.tables[0], name, arrays, path, memory)
    made = {"y": labels_of, "train_mask": mask_of}
    found: dict[str, Any] = {
        field: _checked(made[field](values), named[field] or field, graph) for field, values in columns.items()
    }
    if "train_mask" in arrays and "train_mask" not in found and not graph.bipartite:
        found["train_mask"] = UNUSABLE_MASK  # without a mask, all labels would be training labels
    return replace(graph, **found) if found else graph


def _from_table(
    table: TableOptions | None, name: str, arrays: Mapping[str, Array], path: Path, memory: MemoryBudget
) -> Any:
    """Return a column of the table of nodes, row i for node i."""
    where = path if table is None else table.path
    columns = {} if table is None else read_columns(table.path, memory)
    if name not in columns:
        names = ", ".join([*arrays, *columns]) or "it has no arrays or columns of nodes"
        raise FormatError(f"{where}: label and train_mask must name what is there ({names}), got {name!r}")
    assert table is not None
    ids = id_column(columns, table.id, (*table.x, name), table.path)
    values = _plain(columns[name])
    return values if ids is None else place_rows(values, _plain(columns[ids]), ids, table.path).x


def read_columns(path: Path, memory: MemoryBudget) -> dict[str, Any]:
    """Return the columns of a table of nodes by name, Arrow columns or arrays; none of a file without names."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return dict(read_npz(path, memory))
    if suffix != ".parquet":
        return {}
    from lsprune.files.parquet import read_parquet

    table = read_parquet(path, memory)
    return {name: table[name] for name in table.column_names}


def labels_of(array: Array) -> Array:
    """Return labels as numbers: strings become classes in their order; what is missing is -1, or NaN of floats.

    >>> labels_of(np.array(["b", "", "a", "b"])).tolist()
    [1, -1, 0, 1]
    """
    if array.dtype.kind not in "OUS":
        return array
    there = np.array([isinstance(value, str | bytes | np.str_) and len(value) > 0 for value in array.ravel()], bool)
    classes = np.full(array.shape, -1, np.int64)
    classes.ravel()[there] = np.unique(array.ravel()[there].astype(str), return_inverse=True)[1]
    return classes


def _plain(column: Any) -> Array:
    """Return a column as an array; missing whole numbers are -1, missing numbers NaN, missing strings None."""
    if not hasattr(column, "type"):
        return np.asarray(column)
    import pyarrow as pa

    from lsprune.files.arrow_columns import is_list, list_length, without_missing_integers

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_list(column.type):
        width = list_length(column, "labels", Path("labels"))
        return np.concatenate([np.asarray(chunk.flatten()) for chunk in column.chunks]).reshape(len(column), width)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(without_missing_integers(column).to_numpy())


def mask_of(array: Array) -> Array:
    """Return a mask from truth values, from numbers that are 0 or 1, or from strings: "train" is True."""
    return array == TRAINING if array.dtype.kind in "OUS" else array > 0


def _checked(values: Array, name: str, graph: Graph) -> Array:
    if graph.bipartite:
        raise OptionError(f"{name} must be labels of one kind of nodes, got two kinds of nodes")
    if values.ndim == 0 or values.shape[0] != graph.num_nodes:
        raise FormatError(f"{name} must have a row for each of the {graph.num_nodes} nodes, got {list(values.shape)}")
    return values
