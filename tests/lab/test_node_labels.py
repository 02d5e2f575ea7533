"""Labels of nodes: classes, several labels, numbers; what type and shape say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lsprune.errors import FormatError, LabelsWarning, OptionError
from lsprune.lab.node_labels import check_task, read_labels
from lsprune.weights.labels import sorted_labels


def read(column: object, task: str | None = None, nodes: int = 3) -> object:
    return read_labels(column, "y", nodes, Path("g.npz"), task)


@pytest.mark.parametrize(
    ("column", "kind", "y"),
    [
        (np.array([5, 3, -1]), "classes", [1, 0, -1]),
        (np.array([1.5, 0.0, np.nan]), "numbers", [1.5, 0, np.nan]),
        (pa.chunked_array([[7, None, 5]]), "classes", [1, -1, 0]),
        (pa.chunked_array([[True, None, False]]), "classes", [1, -1, 0]),
        (np.array([[1], [0], [1]]), "classes", [1, 0, 1]),
        (np.array(["b", "a", ""]), "classes", [1, 0, -1]),
        (np.array([-1.5, 2.0, np.inf]), "numbers", [-1.5, 2.0, np.nan]),
        (np.array([[1, 0], [0, 1], [-1, -1]]), "labels", [[1, 0], [0, 1], [np.nan, np.nan]]),
        (np.array([[True, False]] * 3), "labels", [[1, 0]] * 3),
        (pa.chunked_array([[[1, 0], [0, 1], [1, 1]]]), "labels", [[1, 0], [0, 1], [1, 1]]),
    ],
)
def test_type_and_shape_say_what_labels_are(column: object, kind: str, y: object) -> None:
    labels = read(column)
    assert labels.kind == kind
    np.testing.assert_array_equal(labels.y, np.array(y, labels.y.dtype))


@pytest.mark.parametrize(
    ("column", "kind", "task", "y"),
    [
        (np.array([2.0, 0.0, np.nan]), "numbers", "node-regression", [2, 0, np.nan]),
        (np.array([2.0, -1.0, 1.0]), "numbers", "node-regression", [2, -1, 1]),
        (np.array([1.0, 0.0, np.nan]), "labels", "multi-label", [[1], [0], [np.nan]]),
    ],
)
def test_whole_floats_are_what_python_takes_them_for_and_a_warning_says_how_to_have_classes(
    column: np.ndarray, kind: str, task: str, y: object
) -> None:
    with pytest.warns(LabelsWarning, match=f"y holds whole numbers stored as floats.*--task node-class.*--task {task}"):
        labels = read(column)
    assert labels.kind == kind == sorted_labels(column, np.arange(3))[0]
    np.testing.assert_array_equal(labels.y, np.array(y, np.float32))
    classes = read(column, "node-classification")
    assert classes.kind == "classes" and classes.y.dtype == np.int64
    np.testing.assert_array_equal(read(column, task).y, labels.y)


def test_a_task_says_it_too() -> None:
    np.testing.assert_array_equal(read(np.array([3, -1, 4]), "node-regression").y, np.float32([3, -1, 4]))
    assert read(np.array([[1], [0], [1]]), "multi-label").y.shape == (3, 1)
    check_task(None)
    with pytest.raises(OptionError, match="task must be one of node-classification, multi-label, node-regression, got"):
        check_task("ranking")


@pytest.mark.parametrize(
    ("column", "task", "message"),
    [
        (np.array([1, 2]), None, r"label y must have shape \[3\], one per node, got \[2\]"),
        (np.array([[0, 2]] * 3), None, r"label y of shape \[3, 2\] must be 0 and 1, got 2 at node 0"),
        (np.array([[0.0, 0.5]] * 3), None, "must be 0 and 1, got 0.5 at node 0"),
        (np.array([0.5, 1, 2]), "node-classification", "label y must be integers or strings, got 0.5"),
        (np.array(["a", "b", "c"]), "node-regression", "label y must be numbers for node-regression"),
        (np.array([[0, 1]] * 3), "node-regression", r"label y must have shape \[3\] for node-regression"),
        (np.array([0, 1, 1]), "multi-label", r"label y must be 0 and 1 of shape \[nodes, labels\] for multi-label"),
    ],
)
def test_labels_that_are_none_of_these_are_refused(column: object, task: str | None, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(column, task)
