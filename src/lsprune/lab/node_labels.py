"""The labels of a user's nodes: a class, several labels, or a number each; the rule is that of `weights="labels"`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lsprune.checks import did_you_mean
from lsprune.errors import FormatError, LabelsWarning, OptionError, warn
from lsprune.files.arrow_columns import without_missing_integers
from lsprune.graph import Array
from lsprune.weights.labels import kind_of

CLASSES, LABELS, NUMBERS = "classes", "labels", "numbers"
_WHOLE = {LABELS: "a label that is there (1) or not (0)", NUMBERS: "values of a regression"}
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

    Integers, booleans and strings are classes; several columns, lists, or floats, of 0 and 1 are labels that are there
    or not; other floats are numbers, also whole ones. Not labelled: negative classes, empty strings, NaN.
    """
    values = to_numpy(without_missing_integers(column), name, path)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 and task != "multi-label" else values
    if values.ndim not in (1, 2) or values.shape[0] != nodes:
        raise FormatError(f"label {name} must have shape [{nodes}], one per node, got {list(values.shape)}")
    kind = _kind(values) if task is None else TASKS[task]
    if task is None:
        _warn_whole_floats(values, name, kind)
    if kind == LABELS:
        one_label = values.ndim == 1 and values.dtype.kind == "f"
        return NodeLabels(LABELS, _several(values[:, None] if one_label else values, name))
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
    return kind_of(values[np.isfinite(values)][:, None])


def _warn_whole_floats(values: Array, name: str, kind: str) -> None:
    """Warn of one column of whole floats, which may be meant as classes."""
    if values.ndim != 1 or values.dtype.kind != "f":
        return
    known = values[np.isfinite(values)]
    if np.all(known == np.floor(known)):
        task = next(task for task, meant in TASKS.items() if meant == kind)
        warn(
            f"label {name} holds whole numbers stored as floats: they are read as {_WHOLE[kind]}. If they are classes, "
            f"set --task node-classification (task=) or store integers; --task {task} keeps what is read",
            LabelsWarning,
        )


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
