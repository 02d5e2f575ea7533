"""Labels of nodes from files: arrays of the `.npz` that holds the edges, or columns of the table of nodes.

Only training labels are ever looked at (`weights="labels"`). Labels are numbers or strings; a missing one (null, the
empty string, NaN, a negative class) makes a node one without a label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import did_you_mean
from lsprune.errors import FormatError, OptionError
from lsprune.files.edge_options import EdgeOptions, TableOptions
from lsprune.files.node_table import id_column, place_rows
from lsprune.graph import UNUSABLE_MASK, Array, Graph

DEFAULTS = {"y": "y", "train_mask": "train_mask"}  # names of the arrays beside the edges that are used if they fit
_TRUTH = 'truth values, 0 and 1, or texts of which "train" names a training node'
TRAINING = "train"  # what a column of strings calls a training node


def check_names(options: EdgeOptions, names: Sequence[str], path: Path) -> None:
    """Raise FormatError for a name of labels or masks that no array or column has; `path` is what the error names."""
    given = {"label (--label)": (options.label,), "train_mask (--train-mask)": (options.train_mask,)}
    for option, wanted in {**given, "split (--split)": options.split}.items():
        for name in wanted:
            if name is not None and name not in names:
                there = ", ".join(names) or "it has no arrays or columns of nodes"
                raise FormatError(
                    f"{path}: {option} must name what is there ({there}), got {name!r}{did_you_mean(name, names)}"
                )


def with_labels(
    graph: Graph, options: EdgeOptions, arrays: Mapping[str, Array], column_of: Callable[[str], Array]
) -> Graph:
    """Return the graph with labels and the mask of its training nodes, as far as there are any.

    Args:
        arrays: those of the file of edges; none if it is a table.
        column_of: gives a column of the table of nodes by its name, row i for node i. Names were checked before.
    """
    named = {"y": options.label, "train_mask": options.training}
    columns: dict[str, Any] = {}
    for field, name in named.items():
        if name is None:
            default = arrays.get(DEFAULTS[field])
            if default is not None and default.shape[:1] == (graph.num_nodes,) and not graph.bipartite:
                columns[field] = default
            continue
        columns[field] = arrays[name] if name in arrays else column_of(name)
    _check_missing(options, columns)
    found: dict[str, Any] = {}
    for field, values in columns.items():
        _check_rows(values, named[field] or field, graph)
        mask = field == "train_mask"
        found[field] = mask_of(values, named[field], options.split_number) if mask else labels_of(values)
    if "train_mask" in arrays and "train_mask" not in found and not graph.bipartite:
        found["train_mask"] = UNUSABLE_MASK  # without a mask, all labels would be training labels
    return replace(graph, **found) if found else graph


def _check_missing(options: EdgeOptions, columns: Mapping[str, Any]) -> None:
    """Raise OptionError if the caller names training nodes, or a split, and what it is of is not there."""
    if options.training is not None and "y" not in columns:
        option = "split (--split)" if options.split else "train_mask (--train-mask)"
        raise OptionError(f"{option} needs labels: name them with label (--label), got {options.training!r} alone")
    if options.split_number is not None and "train_mask" not in columns:
        raise OptionError(
            f"the number of a split (--split) needs a mask of training nodes: name it with train_mask (--train-mask), "
            f"got {options.split_number} alone"
        )


def from_table(table: TableOptions | None, name: str, columns: Mapping[str, Any]) -> Array:
    """Return a column of the table of nodes, row i for node i."""
    assert table is not None
    values, ids = plain_column(columns[name]), id_column(columns, table.id, (*table.x, name), table.path)
    placed: Array = values if ids is None else place_rows(values, plain_column(columns[ids]), ids, table.path).x
    return placed


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


def plain_column(column: Any) -> Array:
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


def mask_of(values: Array, name: str | None = None, number: int | None = None) -> Array:
    """Return a mask from truth values, from numbers that are 0 or 1, or from strings: "train" is True.

    Raise FormatError for other values. Missing ones are False. A mask of several splits stays as it is without the
    number of one of them, for `weights="labels"` to refuse.

    Args:
        name: of the mask, if the caller named it. number: of the split, of a mask `[N, splits]`.
    """
    option = "train_mask" if name is None else f"train_mask (--train-mask, --split) {name!r}"
    if number is not None and not (values.ndim == 2 and 0 <= number < values.shape[1]):
        there = f"numbers 0 to {values.shape[1] - 1}" if values.ndim == 2 else "it has one"
        raise OptionError(f"split must be the number of a split in {option} ({there}), got {number}")
    values = values if number is None else values[:, number]
    if values.dtype.kind in "OUS":
        mask = np.asarray(values == TRAINING)
        if not mask.any():
            examples = ", ".join(sorted({str(value) for value in values.ravel()[:1000]})[:5])
            raise FormatError(f"{option} must hold {_TRUTH}, got {examples}")
        return mask
    if values.dtype.kind not in "fiub":
        raise FormatError(f"{option} must hold {_TRUTH}, got {values.dtype}")
    wrong = values[(values > 0) & (values != 1)]
    if name is not None and wrong.size:
        raise FormatError(f"{option} must hold {_TRUTH}, got {wrong[0]}")
    return np.asarray(values > 0)


def _check_rows(values: Array, name: str, graph: Graph) -> None:
    if graph.bipartite:
        raise OptionError(f"{name} must be labels of one kind of nodes, got two kinds of nodes")
    if values.ndim == 0 or values.shape[0] != graph.num_nodes:
        raise FormatError(f"{name} must have a row for each of the {graph.num_nodes} nodes, got {list(values.shape)}")
