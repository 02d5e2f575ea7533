"""A probe: how well a cheap model predicts labels from a pruned graph, in a second and without training a network.

The features of a node are its attributes z, their mean over the neighbours Pz, and P(Pz), as a network of two layers
would see them, and some random combinations of these. Ridge regression predicts the labels. P has only the edges that
are kept, so that a probe on a graph that lost the wrong edges predicts worse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, solve
from scipy.sparse import csr_array, issparse

from lsprune.attributes import is_category
from lsprune.chooser.known_labels import KnownLabels
from lsprune.chooser.metrics import ROC_AUC
from lsprune.chooser.scores import Scores, roc_auc_values
from lsprune.graph import Array, Graph

MAX_COLUMNS = 128  # of z: wider attributes are reduced to their main directions
MAX_EDGE_COLUMNS = 32
EXTRA_COLUMNS = 16  # of the sketch from which these are found
RANDOM_FEATURES = 512
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)  # relative to the mean square of a feature
MAX_TRAINING = 1 << 14  # nodes or graphs that a probe learns from
MAX_PREDICTING = 1 << 12  # nodes that the linear model of wide attributes learns from
OWN_PENALTY = 0.1  # of that model; rows have length 1
TRIAL_SHARE = 5  # every fifth of them chooses the penalty


class Probe:
    """A probe of one graph: what all candidates share is computed once."""

    def __init__(self, graph: Graph, labels: KnownLabels, seed: int) -> None:
        random = np.random.default_rng(seed & (1 << 64) - 1)
        self.graph, self.labels = graph, labels
        self.source, self.target = (np.asarray(end, np.int64) for end in graph.ends())
        whole = _rows(graph.x_target)
        rows = _standard(_reduced(whole, MAX_COLUMNS, random))
        self.rows = [rows, rows]
        if whole.shape[1] > MAX_COLUMNS and labels.level == "nodes":
            known = (_predicted(whole, labels, chosen.teaching) for chosen in labels.rounds)
            self.rows = [np.concatenate([rows, _standard(more)], axis=1) for more in known]
        self.edge_rows = None
        if graph.edge_attr is not None:
            self.edge_rows = _standard(_reduced(_rows(graph.edge_attr), MAX_EDGE_COLUMNS, random))
        columns = 3 * self.rows[0].shape[1] + (0 if self.edge_rows is None else self.edge_rows.shape[1])
        self.directions = random.standard_normal((columns, RANDOM_FEATURES)).astype(np.float32)

    def score(self, masks: tuple[Array, Array]) -> Scores:
        """Return the scores of a pruned graph, the mean of two rounds.

        Args:
            masks: over the edges, as the pruner keeps them in each of the rounds; the same object if it is one mask.
        """
        same = masks[1] is masks[0] and self.rows[1] is self.rows[0]
        features = [self.features(masks[0], self.rows[0])]
        features.append(features[0] if same else self.features(masks[1], self.rows[1]))
        rounds = [self._round(rows, chosen.training) for rows, chosen in zip(features, self.labels.rounds, strict=True)]
        return Scores(*((first + second) / 2 for first, second in zip(*rounds, strict=True)))

    def features(self, mask: Array, rows: Array) -> Array:
        """Return the features of every labelled node or graph, with the edges of a mask and attributes of nodes."""
        kept = mask & (self.source != self.target)
        source, target, nodes = self.source[kept], self.target[kept], self.graph.num_targets
        share = (1 / np.maximum(np.bincount(target, minlength=nodes), 1)).astype(np.float32)
        means = csr_array((share[target], (target, source)), shape=(nodes, nodes))
        once = means @ rows
        blocks = [rows, once, means @ once]
        if self.edge_rows is not None:
            into = csr_array((share[target], (target, np.flatnonzero(kept))), shape=(nodes, mask.shape[0]))
            blocks.append(into @ self.edge_rows)
        return self._of_items(np.concatenate(blocks, axis=1))

    def _of_items(self, rows: Array) -> Array:
        """Add random combinations; of graphs, take the mean over their nodes."""
        if self.labels.level == "nodes":
            rows = rows[self.labels.items]
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        mixed = np.maximum((rows / lengths) @ self.directions, 0)
        rows = np.concatenate([rows, mixed], axis=1)
        if self.labels.level == "graphs":
            ptr = self.graph.target_ptr
            assert ptr is not None
            sizes = np.diff(ptr)
            sums = np.zeros((sizes.shape[0], rows.shape[1]), np.float32)
            np.add.at(sums, np.repeat(np.arange(sizes.shape[0]), sizes), rows)
            means = sums / np.maximum(sizes, 1)[:, None]
            rows = np.concatenate([means, np.log1p(sizes)[:, None].astype(np.float32)], axis=1)[self.labels.items]
        return rows

    def _round(self, features: Array, training: Array) -> tuple[Array, Array]:
        training = training[:: max(1, -(-training.shape[0] // MAX_TRAINING))]
        targets, judged = self.labels.targets, self.labels.judged
        predict = ridge(features[training], targets[training])
        predicted, true = predict(features[judged]), targets[judged]
        spread = np.maximum(targets[training].std(0), 1e-9) if self.labels.kind == "numbers" else np.float32(1)
        closeness = -np.square((predicted - true) / spread).sum(1)
        if self.labels.metric is ROC_AUC:
            return roc_auc_values(predicted[:, 1] - predicted[:, 0], true[:, 1] > 0.5), closeness
        return _hits(self.labels.kind, predicted, true), closeness


def _predicted(rows: Any, labels: KnownLabels, teaching: Array) -> Array:
    """Return what a linear model of the whole attributes predicts for every node, trained on the labels of a teacher.

    Main directions alone leave something out, which a pruner that has learned from labels knows: its choice of
    neighbours would tell the probe about the node itself.
    """
    places = np.flatnonzero(teaching[labels.items])
    places = places[:: max(1, -(-places.shape[0] // MAX_PREDICTING))]
    known, targets = rows[labels.items[places]], labels.targets[places]
    middle = targets.mean(0)
    products = known @ known.T
    products = np.asarray(products.toarray() if issparse(products) else products, np.float64)
    products[np.diag_indices_from(products)] += OWN_PENALTY
    weights = known.T @ np.linalg.solve(products, targets - middle)
    return np.asarray(rows @ weights.astype(np.float32), np.float32)


def ridge(features: Array, targets: Array) -> Callable[[Array], Array]:
    """Fit a ridge regression, with the penalty that is best on every fifth row; return what predicts."""
    centre, middle = features.mean(0), targets.mean(0)
    features, targets = features - centre, targets - middle
    trial = np.arange(features.shape[0]) % TRIAL_SHARE == TRIAL_SHARE - 1
    grams, products = zip(*(_normal_equations(features[part], targets[part]) for part in (~trial, trial)), strict=True)
    unit = max(float(np.trace(grams[0])) / grams[0].shape[0], 1e-12)

    def loss(penalty: float) -> float:
        weights = _solve(grams[0], products[0], penalty * unit)
        return float(np.square(features[trial] @ weights - targets[trial]).sum())

    penalty = min(PENALTIES, key=loss) * unit
    weights = _solve(grams[0] + grams[1], products[0] + products[1], penalty)
    return lambda rows: np.asarray((rows - centre) @ weights + middle)


def _normal_equations(features: Array, targets: Array) -> tuple[Array, Array]:
    return features.T @ features, features.T @ targets


def _solve(gram: Array, products: Array, penalty: float) -> Array:
    """Return the weights with the smallest squared error plus penalty times their squares.

    Sums in float32 may leave a matrix that is not quite positive definite, which Cholesky cannot take.
    """
    regular = gram.astype(np.float64)
    regular[np.diag_indices_from(regular)] += penalty
    try:
        weights = solve(regular, products, assume_a="pos", check_finite=False)
    except LinAlgError:
        weights = solve(regular, products, assume_a="sym", check_finite=False)
    return np.asarray(weights, np.float32)


def _hits(kind: str, predicted: Array, true: Array) -> Array:
    if kind == "classes":
        hits = predicted.argmax(1) == true.argmax(1)
    elif kind == "labels":
        hits = ((predicted > 0.5) == (true > 0.5)).mean(1)
    else:
        hits = -np.abs(predicted - true).mean(1)
    return np.asarray(hits, np.float64)


def _rows(values: Any) -> Any:
    """Return attributes as float32 rows of length 1, dense or CSR; categories as one column each."""
    if is_category(values):
        place = np.unique(np.asarray(values).ravel(), return_inverse=True)[1].reshape(-1)
        ends = np.arange(place.shape[0]), place
        return csr_array((np.ones(place.shape[0], np.float32), ends))
    if issparse(values):
        rows = csr_array(values, dtype=np.float32, copy=True)
        lengths = np.sqrt(np.maximum((rows * rows).sum(1), 1e-12))
        rows.data = (rows.data / np.repeat(lengths, np.diff(rows.indptr))).astype(np.float32)
        return rows
    rows = np.asarray(values, np.float32)
    rows = rows.reshape(rows.shape[0], -1)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def _reduced(rows: Any, most: int, random: np.random.Generator) -> Array:
    """Return at most `most` columns: the main directions of the rows, found from a random sketch."""
    if rows.shape[1] <= most:
        return np.asarray(rows.toarray() if issparse(rows) else rows)
    if not issparse(rows) and np.count_nonzero(rows) < 0.1 * rows.size:
        rows = csr_array(rows)
    sketch = rows @ random.standard_normal((rows.shape[1], most + EXTRA_COLUMNS)).astype(np.float32)
    basis = np.linalg.qr(sketch)[0]
    basis = np.linalg.qr(rows @ (rows.T @ basis))[0]
    small = rows.T @ basis
    values, vectors = np.linalg.eigh((small.T @ small).astype(np.float64))
    main = np.argsort(-values)[:most]
    return np.asarray(basis @ (vectors[:, main] * np.sqrt(np.maximum(values[main], 0))), np.float32)


def _standard(rows: Array) -> Array:
    """Return rows in units of their overall deviation."""
    return np.asarray(rows / max(float(rows.std()), 1e-9), np.float32)
