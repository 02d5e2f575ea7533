"""Prefer edges whose two ends have the same label, as a teacher that saw the training labels predicts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from lsprune.attributes import Part
from lsprune.errors import ConstantWarning, GraphError, warn
from lsprune.graph import UNUSABLE_MASK, Array, Graph
from lsprune.hashing.base import View
from lsprune.kernels import Runtime
from lsprune.needs import Needs
from lsprune.numeric.quantisation import Scale, check_finite, fit_scales
from lsprune.numeric.random_numbers import is_tensor
from lsprune.weights.base import PerEdge, Weight
from lsprune.weights.carried import Carried
from lsprune.weights.comparison import Comparison, RowComparison, view_of_nodes
from lsprune.weights.surroundings import node_part
from lsprune.weights.teacher import Teacher, check_columns, problem

LABELS_ROLE = "taught"  # name under which `fit` stores the scale of the rows that the teacher looks at


@dataclass(frozen=True, kw_only=True)
class Labels(Weight):
    """The weight is p^power, where p is the probability that both ends have the same label.

    `fit` trains a teacher on `y` and `train_mask`: a linear model of the attributes of a node and of its neighbours up
    to two hops away. It reads the labels of training nodes only; without `train_mask`, all nodes with a label are
    training nodes. A fitted pruner needs no labels: it prunes any graph whose `x` has the same columns.

    - `y` of integers, one a node: classes; p is the sum over the classes of p_owner p_neighbour. A negative number is
      a missing label.
    - `y` of several columns (or of floats) that hold 0 and 1: p is the probability that all labels are the same.
    - other floats: p falls with the square of the difference of the predictions, in units of the teacher's error. NaN
      is a missing label.

    >>> Labels(power=0.5)
    Labels(power=0.5)
    """

    name: ClassVar[str] = "labels"
    about: ClassVar[str] = "prefer edges whose ends have the same label, predicted from the training labels"
    roles: ClassVar[tuple[str, ...]] = (LABELS_ROLE,)
    learns: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        """Say that the weight depends on the attributes of both ends and of their neighbours."""
        reason = "weights labels compares predictions that depend on the neighbours of both ends of an edge"
        return Needs(neighbour=True, scope="neighbourhood", reason=reason, fit_edges=True, gpu=True)

    def fit(self, graph: Graph, side: str, seed: int, runtime: Runtime, sizes: Mapping[str, int]) -> dict[str, Scale]:
        """Return the scale of the node attributes that the teacher looks at."""
        part = node_part(graph, side, seed, size=sizes.get("neighbour"), name=self.name)
        check_columns(part)
        return fit_scales({LABELS_ROLE: part}, unit=True, runtime=runtime)

    def learn(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> Array:
        """Return the parameters of the teacher, trained in host memory."""
        if is_tensor(graph.x_source):
            graph = import_module("lsprune.device.graph").download(graph)
        training = import_module("lsprune.weights.teacher_training")  # it imports scipy
        lesson = training.Lesson(*training_labels(graph))
        if lesson.kind == "classes" and lesson.targets.shape[1] < 2:
            warn("all training nodes have the same label: no edge is preferred", ConstantWarning)
        part = node_part(graph, side, seed, scale=scales[LABELS_ROLE], name=self.name)
        taught: Teacher = training.train(graph, side, part, scales[LABELS_ROLE], lesson, seed)
        return taught.packed()

    def learned_problem(self, learned: Array | None, scales: Mapping[str, Scale]) -> str:
        """Say what is wrong with the parameters of a teacher; empty if nothing."""
        return problem(learned, scales[LABELS_ROLE].dim if LABELS_ROLE in scales else 0)

    def check_attributes(self, graph: Graph, side: str) -> None:
        """Raise GraphError if there are no node attributes to look at."""
        node_part(graph, side, 0, name=self.name)

    def check(self, graph: Graph, side: str, seed: int, runtime: Runtime, scales: Mapping[str, Scale]) -> None:
        """Raise GraphError if there are no node attributes to look at, or they are not finite."""
        part = node_part(graph, side, seed, scale=scales.get(LABELS_ROLE), name=self.name)
        check_finite({LABELS_ROLE: part}, runtime)

    def carried(self, place: int) -> Weight:
        """Return the weight to use where edges carry what `comparisons` computed."""
        return Carried(power=self.power, place=place)

    def comparisons(self, scales: Mapping[str, Scale], learned: Array | None, seed: int) -> tuple[Comparison, ...]:
        """Say that the predictions for both ends are compared, which take a round of sums for each hop."""
        assert learned is not None
        teacher = Teacher.unpacked(learned)
        return (Predictions(rounds=len(teacher.weights) - 1, teacher=teacher, scale=scales[LABELS_ROLE], seed=seed),)

    def logs(self, graph: Graph, view: View, side: str, scales: Mapping[str, Scale]) -> PerEdge:
        """Return log2 of the probability that both ends have the same label, for every slot."""
        assert view.weights_learned is not None
        teacher, scale = Teacher.unpacked(view.weights_learned), scales[LABELS_ROLE]
        part = node_part(graph, side, view.seed, scale=scale, name=self.name)
        return PerEdge(of_slot=teacher.agreement(view, teacher.outputs(view, part, scale)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions(RowComparison):
    """The probability that both ends have the same label.

    A node knows its products with the weights of every hop, side by side; each round folds the last two into one.

    Args:
        teacher: what predicts. scale: how attributes become integers. seed: that of the pruner.
    """

    teacher: Teacher
    scale: Scale
    seed: int

    @property
    def row_type(self) -> Any:
        """Probabilities have 16 bits, predicted numbers 64."""
        return np.int64 if self.teacher.kind == "numbers" else np.int16

    @property
    def _width(self) -> int:
        return int(self.teacher.bias.shape[0])

    def _part(self, graph: Graph) -> Part:
        return node_part(graph, "in", self.seed, scale=self.scale, name=Labels.name)

    def check(self, graph: Graph) -> None:
        """Raise GraphError if there are no node attributes to look at."""
        self._part(graph)

    def start(self, graph: Graph, runtime: Runtime) -> Array:
        """Return the products of the attributes with the weights of hop 0, 1, ..."""
        view, part = view_of_nodes(graph.num_nodes, self.seed, runtime), self._part(graph)
        blocks = [self.teacher.of_rows(view, part, self.scale, block) for block in self.teacher.weights]
        return np.concatenate(blocks, axis=1)

    def message(self, known: Array) -> Array:
        """Send what the last hop adds up to."""
        return known[:, -self._width :]

    def update(self, known: Array, sums: Array, neighbours: Array, runtime: Runtime) -> Array:
        """Add the mean over the node and its neighbours to the products of the hop before."""
        left = known[:, : -self._width].copy()
        left[:, -self._width :] += sums // (neighbours[:, None] + 1)
        return left

    def finish(self, known: Array, runtime: Runtime) -> Array:
        """Return the predictions."""
        return self.teacher.predictions(self._view(known, runtime), known + self.teacher.bias).astype(self.row_type)

    def logs(self, first: Array, second: Array, runtime: Runtime) -> Array:
        """Return log2 of the probability that both ends have the same label."""
        return self.teacher.agreement_of_rows(self._view(first, runtime), first, second)

    def _view(self, rows: Array, runtime: Runtime) -> View:
        return view_of_nodes(rows.shape[0], self.seed, runtime)


def training_labels(graph: Graph) -> tuple[str, Array, Array]:
    """Return the kind of labels, the training nodes and their targets `[nodes, outputs]`; look at no other labels."""
    if graph.y is None:
        raise GraphError(
            'weights="labels" needs node labels (y) to be fitted, one row for each node: y of a PyG Data, '
            "or Graph.from_edges(..., y=...)"
        )
    labels = on_host(graph.y)
    if labels.ndim == 0 or labels.shape[0] != graph.num_nodes or labels.dtype.kind not in "biuf":
        raise GraphError(f"y must be numbers, {graph.num_nodes} rows, got {labels.dtype} {list(labels.shape)}")
    return sorted_labels(labels, _training_nodes(graph))


def sorted_labels(labels: Array, nodes: Array) -> tuple[str, Array, Array]:
    """Return the kind of the labels of some nodes, those of them that have a label, and their targets as floats."""
    if labels.ndim == 0 or labels.dtype.kind not in "biuf":
        raise GraphError(f"y must be numbers, a row for each node, got {labels.dtype} {list(labels.shape)}")
    rows = labels.reshape(labels.shape[0], -1)[nodes]  # nothing but the labels of these nodes
    there = np.isfinite(rows).all(1) if rows.dtype.kind == "f" else rows.min(1, initial=0) >= 0
    nodes, rows = nodes[there], rows[there]
    if not nodes.size or not rows.shape[1]:
        raise GraphError('weights="labels" needs training nodes with a label: train_mask and y leave none')
    if rows.shape[1] == 1 and rows.dtype.kind in "iu":
        classes, place = np.unique(rows[:, 0], return_inverse=True)
        return "classes", nodes, np.eye(classes.shape[0], dtype=np.float32)[place.reshape(-1)]
    binary = bool(((rows == 0) | (rows == 1)).all())
    return "labels" if binary else "numbers", nodes, rows.astype(np.float32)


def _training_nodes(graph: Graph) -> Array:
    """Return the ids of the nodes whose labels may be looked at."""
    if graph.train_mask is None:
        return np.arange(graph.num_nodes)
    if graph.train_mask is UNUSABLE_MASK:
        raise GraphError(
            f"train_mask must hold one truth value for each of the {graph.num_nodes} nodes (of every graph of a list): "
            "which labels may be looked at is not known"
        )
    mask = on_host(graph.train_mask)
    if mask.shape != (graph.num_nodes,) or mask.dtype.kind not in "biu":
        raise GraphError(
            f"train_mask must hold one truth value for each of the {graph.num_nodes} nodes, got {mask.dtype} "
            f"{list(mask.shape)}; of several splits, choose one: data.train_mask[:, 0] (--split 0)"
        )
    return np.flatnonzero(mask)


def on_host(values: Any) -> Array:
    """Return labels or a mask in host memory."""
    return np.asarray(values.detach().cpu().numpy() if is_tensor(values) else values)
