"""The labels of a user's nodes: a class, several labels, or a number each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import did_you_mean
from lsprune.errors import FormatError, OptionError
from lsprune.graph import Array

CLASSES, LABELS, NUMBERS = "classes", "labels", "numbers"
TASKS = {"node-classification": CLASSES, "multi-label": LABELS, "node-regression": NUMBERS}


@dataclass(frozen=True, eq=False)
class NodeLabels:
    """What is known of every node.

    Args:
        kind: one of the kinds of `TASKS`.
        y: of classes `[N]` int64, -1 for an unlabelled node; of several labels `[N, L]` float32 of 0 and 1, of numbers
            `[N]` float32, both NaN for an unlabelled node.
        classes: the names of the classes.
    """

    kind: str
    y: Array
    classes: tuple[str, ...] = ()


def check_task(task: str | None) -> None:
    """Raise OptionError unless it is None or one of `TASKS`."""
    if task is not None and task not in TASKS:
        raise OptionError(f"task must be one of {', '.join(TASKS)}, got {task!r}{did_you_mean(task, TASKS)}")


def read_labels(column: Any, name: str, nodes: int, path: Path, task: str | None = None) -> NodeLabels:
    """Return the labels in a column; without a task, their type and shape say what they are.

    Several columns, or lists, of 0 and 1 are several labels a node; numbers with fractions are numbers; all else is
    classes. Not labelled: negative classes, empty strings, NaN.
    """
    values = to_numpy(column, name, path)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 and task != "multi-label" else values
    if values.ndim not in (1, 2) or values.shape[0] != nodes:
        raise FormatError(f"label {name} must have shape [{nodes}], one per node, got {list(values.shape)}")
    kind = _kind(values) if task is None else TASKS[task]
    if kind == LABELS:
        return NodeLabels(LABELS, _several(values, name))
    if values.ndim == 2:
        raise FormatError(f"label {name} must have shape [{nodes}] for {task}, got {list(values.shape)}")
    if kind == NUMBERS:
        return NodeLabels(NUMBERS, _numbers(values, name))
    return NodeLabels(CLASSES, *_classes(values, name))


def to_numpy(column: Any, name: str, path: Path) -> Array:
    """Return a column as a numpy array, lists as `[N, d]`; missing numbers are NaN, missing strings None."""
    if not hasattr(column, "type"):
        return np.asarray(column)
    from lsprune.files.arrow_columns import is_list, numbers

    if is_list(column.type):
        return numbers(column, name, path)
    if str(column.type).startswith("dictionary"):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())


def _kind(values: Array) -> str:
    if values.ndim == 2:
        return LABELS
    if values.dtype.kind != "f":
        return CLASSES
    known = values[np.isfinite(values)]
    return NUMBERS if np.any(known != np.floor(known)) else CLASSES


def _several(values: Array, name: str) -> Array:
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise FormatError(
            f"label {name} must be 0 and 1 of shape [nodes, labels] for multi-label, got {values.dtype} "
            f"{list(values.shape)}"
        )
    rows = values.astype(np.float32)
    known = np.isfinite(rows).all(axis=1) & (rows >= 0).all(axis=1)
    wrong = known & ~np.isin(rows, (0, 1)).all(axis=1)
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        number = rows[node][~np.isin(rows[node], (0, 1))][0]
        raise FormatError(f"label {name} of shape {list(values.shape)} must be 0 and 1, got {number:g} at node {node}")
    rows[~known] = np.nan
    return rows


def _numbers(values: Array, name: str) -> Array:
    if values.dtype.kind not in "biuf":
        raise FormatError(f"label {name} must be numbers for node-regression, got {values.dtype}")
    numbers = values.astype(np.float32)
    return np.where(np.isfinite(numbers), numbers, np.float32(np.nan))


def _classes(values: Array, name: str) -> tuple[Array, tuple[str, ...]]:
    """Return (class of each node, names of the classes)."""
    if values.dtype.kind == "f":
        labelled = np.isfinite(values) & (values >= 0)
        if np.any(values[labelled] != np.floor(values[labelled])):
            raise FormatError(f"label {name} must be integers or strings, got {values[labelled][0]:g}")
        values = np.where(labelled, values, -1).astype(np.int64)
    elif values.dtype.kind in "iub":
        labelled = values >= 0 if values.dtype.kind == "i" else np.ones(values.shape[0], bool)
    else:
        labelled = np.array([isinstance(value, str) and value != "" for value in values], bool)
    names, classes = np.unique(
        values[labelled].astype(str if values.dtype.kind == "O" else values.dtype), return_inverse=True
    )
    y = np.full(values.shape[0], -1, np.int64)
    y[labelled] = classes
    return y, tuple(map(str, names.tolist()))
