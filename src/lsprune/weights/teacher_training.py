"""Train a teacher: a regularised linear model of [x, Px, P^2 x], from the labels of training nodes alone.

A linear model by L-BFGS (scipy, which is installed anyway) needs no other library, takes sparse attributes as they are,
and its parameters round to integers. On Cora and CiteSeer it is as good as a graph neural network on the whole graph.
The number of hops and the strength of regularisation are those with the smallest loss on a fifth of the training nodes.
Floats decide here: the result is promised on one type of machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array, eye_array, issparse

from lsprune.attributes import CategoryRows, Part, SparseRows
from lsprune.graph import Array, Graph
from lsprune.kernels.threads import blas
from lsprune.numeric.quantisation import Scale
from lsprune.numeric.random_numbers import TEACH, draw
from lsprune.weights.propagated_rows import PropagatedRows
from lsprune.weights.teacher import MAX_HOPS, Teacher

PENALTIES = (3e-3, 3e-4, 3e-5)  # strength of regularisation, from which one is chosen
MAX_TRAINING_NODES = 1 << 15  # of more, a sample by a hash
MAX_TRIAL_NODES = 1 << 12  # training nodes that candidates are compared on
MAX_STEPS = 60  # of L-BFGS
TRIAL_TOLERANCE, TOLERANCE = 1e-4, 1e-6  # relative change of the loss at which L-BFGS stops
LEAST_GAIN = 0.01  # share by which the loss must fall for a candidate with more hops or less regularisation
FOLDS = 5  # every fifth training node of a class is left out to compare candidates
MAX_DENSE_VALUES = 1 << 20  # of x: the means of wider sparse attributes are not stored
_DENSE_SHARE = 0.05  # of entries that are not 0, from which on products of a dense matrix are faster
_LEAST_DEVIATION = 0.03  # of the errors of predicted numbers, in deviations of the numbers


@dataclass(frozen=True, eq=False)
class Lesson:
    """What is taught: the training nodes, and their labels.

    Args:
        kind: one of `teacher.KINDS`. nodes: their ids. targets: [nodes, outputs] float32, 0 or 1 unless numbers.
    """

    kind: str
    nodes: Array
    targets: Array

    def part(self, some: Array) -> Lesson:
        """Return the lesson of some of its nodes."""
        return Lesson(self.kind, self.nodes[some], self.targets[some])


@dataclass(frozen=True, eq=False)
class _Model:
    weights: Array  # [blocks, columns, outputs] float64
    bias: Array  # [outputs]


def train(graph: Graph, side: str, part: Part, scale: Scale, lesson: Lesson, seed: int) -> Teacher:
    """Return a teacher of this graph's labels; `scale` says how attribute rows become integers."""
    with blas(1):
        return _train(graph, side, part, scale, lesson, seed)


def _train(graph: Graph, side: str, part: Part, scale: Scale, lesson: Lesson, seed: int) -> Teacher:
    lesson = lesson.part(_some(lesson.nodes, MAX_TRAINING_NODES, seed))
    blocks, lengths = _hops(graph, side, part, scale, lesson.nodes, seed)
    mean, deviation = _standard(lesson)
    targets = ((lesson.targets - mean) / deviation).astype(np.float32)
    some = _some(lesson.nodes, MAX_TRIAL_NODES, seed)
    hops, penalty, error = _choice(lesson.part(some), [block[some] for block in blocks], targets[some], seed)
    penalty *= some.shape[0] / targets.shape[0]  # more nodes need less regularisation
    model = _fit(lesson.kind, blocks[: hops + 1], targets, penalty, TOLERANCE)
    factor = np.full(targets.shape[1], 1 / math.log(2))
    if lesson.kind == "numbers":
        factor = 1 / (2 * math.sqrt(math.log(2)) * error)
    weights = model.weights / lengths[: hops + 1, None, None] * factor
    bias = model.bias * factor + _centre(scale) @ weights.sum(0)
    return Teacher.of_floats(lesson.kind, weights.transpose(0, 2, 1) / 2.0**scale.exponent, bias)


def _centre(scale: Scale) -> Array:
    """Return what was subtracted from the rows before they became integers."""
    centre = np.asarray(scale.centre, np.float64)
    return np.asarray(centre / 2.0 ** (scale.exponent + (8 if scale.unit else 0)))


def _some(nodes: Array, most: int, seed: int) -> Array:
    """Return the places of at most so many nodes, chosen by a hash, in their order."""
    return np.sort(np.argsort(draw(seed, TEACH, 0, nodes), kind="stable")[:most])


def _standard(lesson: Lesson) -> tuple[Array, Array]:
    """Return mean and deviation of the targets if they are numbers; else 0 and 1."""
    width = lesson.targets.shape[1]
    if lesson.kind != "numbers":
        return np.zeros(width), np.ones(width)
    deviation = lesson.targets.std(0, dtype=np.float64)
    return lesson.targets.mean(0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0)


def _hops(graph: Graph, side: str, part: Part, scale: Scale, nodes: Array, seed: int) -> tuple[list[Any], Array]:
    """Return the rows of x, Px and P^2 x of some nodes, each block scaled to a mean square length of 1, and scales."""
    rows, means = _rows(part, scale), _propagation(graph, side)
    if issparse(rows) and rows.shape[0] * rows.shape[1] > MAX_DENSE_VALUES:
        blocks = [PropagatedRows.of(rows, means, hop, nodes, seed) for hop in range(MAX_HOPS + 1)]
        return list(blocks), np.array([1 / block.factor for block in blocks])
    return _dense_hops(rows, means, nodes)


def _dense_hops(rows: Any, means: Any, nodes: Array) -> tuple[list[Any], Array]:
    blocks, lengths = [], []
    for hop in range(MAX_HOPS + 1):
        mine = rows[nodes] if hop == 0 else means[nodes] @ rows
        if hop:
            rows = _compact(means @ rows) if hop < MAX_HOPS else rows
        mine = _compact(mine)
        square = mine.multiply(mine).sum() if issparse(mine) else np.square(mine, dtype=np.float64).sum()
        lengths.append(max(math.sqrt(float(square) / max(nodes.shape[0], 1)), 1e-6))
        blocks.append((mine / np.float32(lengths[-1])).astype(np.float32))
    return blocks, np.array(lengths)


def _rows(part: Part, scale: Scale) -> Any:
    """Return the attributes of every node as float32, L2-normalised where the integers are: dense, or CSR."""
    rows = part.rows
    if isinstance(rows, SparseRows):
        matrix = csr_array(rows.values, dtype=np.float32, copy=True)
        row = np.repeat(np.arange(rows.count), np.diff(matrix.indptr))
        squares = np.square(matrix.data, dtype=np.float64)
        lengths = np.sqrt(np.bincount(row, weights=squares, minlength=rows.count))
        matrix.data = (matrix.data * _inverse(lengths, scale)[row]).astype(np.float32)
        return _compact(matrix)
    dense = rows.block(0, rows.count)
    if isinstance(rows, CategoryRows) or part.index is not None:
        dense = dense[np.asarray(part.index)]
    lengths = np.sqrt(np.square(dense, dtype=np.float64).sum(1))
    return _compact((dense * _inverse(lengths, scale)[:, None]).astype(np.float32))


def _inverse(lengths: Array, scale: Scale) -> Array:
    return 1 / np.where(lengths > 0, lengths, 1.0) if scale.unit else np.ones_like(lengths)


def _propagation(graph: Graph, side: str) -> Any:
    """Return P as CSR: the mean over a node and its neighbours; self-loops count once, parallel edges each."""
    owner, neighbour = (np.asarray(ids, np.int64) for ids in graph.owners_and_neighbours(side))
    other, size = owner != neighbour, graph.num_nodes
    ends = (owner[other], neighbour[other])
    links = csr_array((np.ones(ends[0].shape[0], np.float32), ends), shape=(size, size))
    links = csr_array(links + eye_array(size, dtype=np.float32, format="csr"))
    links.sort_indices()  # so that sums do not depend on the order of the edges
    return csr_array(diags_array((1 / links.sum(1)).astype(np.float32)) @ links)


def _compact(matrix: Any) -> Any:
    """Return a matrix in the form in which products are fast: dense, or CSR if nearly all entries are 0."""
    entries = matrix.nnz if issparse(matrix) else np.count_nonzero(matrix)
    if entries > _DENSE_SHARE * matrix.shape[0] * matrix.shape[1]:
        return matrix.toarray() if issparse(matrix) else matrix
    return csr_array(matrix)


def _choice(lesson: Lesson, blocks: list[Any], targets: Array, seed: int) -> tuple[int, float, Array]:
    """Return hops and penalty with the smallest loss on left-out nodes, and the error of predicted numbers."""
    left_out = _left_out(lesson, seed)
    if not left_out.any() or left_out.all():
        return 1, PENALTIES[1], np.ones(targets.shape[1])
    train_blocks, test_blocks = ([block[mask] for block in blocks] for mask in (~left_out, left_out))
    best: tuple[float, int, float, Array] | None = None
    for hops in range(MAX_HOPS + 1):
        model = None
        for penalty in PENALTIES:
            model = _fit(lesson.kind, train_blocks[: hops + 1], targets[~left_out], penalty, TRIAL_TOLERANCE, model)
            outputs = _outputs(model, test_blocks[: hops + 1])
            loss, residual = _loss(lesson.kind, outputs, targets[left_out])
            if best is None or loss < (1 - LEAST_GAIN) * best[0]:
                error = np.sqrt(np.square(residual, dtype=np.float64).mean(0))
                best = loss, hops, penalty, np.maximum(error, _LEAST_DEVIATION)
    assert best is not None
    return best[1], best[2], best[3]


def _left_out(lesson: Lesson, seed: int) -> Array:
    """Return every fifth training node, by a hash; of classes, every fifth of each."""
    group = lesson.targets.argmax(1) if lesson.kind == "classes" else np.zeros(lesson.nodes.shape[0], np.int64)
    order = np.lexsort((draw(seed, TEACH, 1, lesson.nodes), group))
    start = np.searchsorted(group[order], group[order])
    mask = np.zeros(lesson.nodes.shape[0], bool)
    mask[order] = (np.arange(order.shape[0]) - start) % FOLDS == FOLDS - 1
    return mask


def _outputs(model: _Model, blocks: list[Any]) -> Array:
    total = sum(block @ weights.astype(np.float32) for block, weights in zip(blocks, model.weights, strict=True))
    return np.asarray(total + model.bias.astype(np.float32))


def _loss(kind: str, outputs: Array, targets: Array) -> tuple[float, Array]:
    """Return the mean loss of a node, and its derivative by the outputs times the number of nodes."""
    if kind == "numbers":
        residual = outputs - targets
        return 0.5 * float(np.square(residual).sum(1).mean()), residual
    if kind == "labels":
        loss = np.logaddexp(0, outputs) - targets * outputs
        return float(loss.sum(1).mean()), 1 / (1 + np.exp(-np.clip(outputs, -60, 60))) - targets
    shifted = outputs - outputs.max(1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(1, keepdims=True)
    loss = np.log(total[:, 0]) - (shifted * targets).sum(1)
    return float(loss.mean()), powers / total - targets


def _fit(
    kind: str, blocks: list[Any], targets: Array, penalty: float, tolerance: float, start: _Model | None = None
) -> _Model:
    """Return the model with the smallest loss plus penalty / 2 times the squares of its weights."""
    shape = (len(blocks), blocks[0].shape[1], targets.shape[1])
    size, count = math.prod(shape), targets.shape[0]

    def unpacked(values: Array) -> _Model:
        return _Model(values[:size].reshape(shape), values[size:])

    def objective(values: Array) -> tuple[float, Array]:
        model = unpacked(values)
        loss, slope = _loss(kind, _outputs(model, blocks), targets)
        slope = (slope / count).astype(np.float32)
        gradient = np.concatenate([(block.T @ slope).ravel() for block in blocks])
        change = np.concatenate([gradient + penalty * values[:size], slope.sum(0)])
        return loss + 0.5 * penalty * float(values[:size] @ values[:size]), change

    first = np.zeros(size + shape[2]) if start is None else np.concatenate([start.weights.ravel(), start.bias])
    options = {"maxiter": MAX_STEPS, "ftol": tolerance}
    return unpacked(minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x)
